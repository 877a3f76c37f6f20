/* The Italian stemmer of Snowball 3, https://snowballstem.org/algorithms/italian/stemmer.html. */
const STEM = (() => {
  const isVowel = lettersOf('aeiouàèìòù'), isFinal = lettersOf('aeioàèìò');
  const ACCENTS = { á: 'à', é: 'è', í: 'ì', ó: 'ò', ú: 'ù', qu: 'qU' };
  const PRONOUNS = endingsOf({ any: 'la cela gliela mela tela vela le cele gliele mele tele vele ne cene gliene mene ' +
    'sene tene vene ci li celi glieli meli teli veli gli mi si ti vi lo celo glielo melo telo velo' });
  const VERBS = endingsOf({ '': 'ando endo', e: 'ar er ir' });
  const STANDARD = endingsOf({
    plain: 'ica osa ista anza ice atrice iche abile ibile ose ante mente iste anze ici atrici ichi abili ibili ismi osi ' +
      'anti isti ico ismo oso istà istè istì',
    ator: 'azione atore azioni atori', logy: 'logia logie', ution: 'usione uzione usioni uzioni', ence: 'enza enze',
    mento: 'amenti imenti amento imento', amente: 'amente', ity: 'ità', ivo: 'iva ive ivi ivo' });
  const NEXT = { ator: ['ic'], amente: ['ic', 'abil', 'os', 'iv'], ity: ['ic', 'abil', 'iv'], ivo: ['at'] };
  const INSTEAD = { logy: 'log', ution: 'u', ence: 'ente' };
  const VERB_ENDINGS = endingsOf({ any:
    'isca enda ata ita uta ava eva iva erebbe irebbe isce ende are ere ire asse ate avate evate ivate ete erete irete ' +
    'ite ereste ireste ute erai irai isci endi erei irei assi ati iti eresti iresti uti avi evi ivi isco ando endo Yamo ' +
    'iamo avamo evamo ivamo eremo iremo assimo ammo emmo eremmo iremmo immo ano iscano avano evano ivano eranno iranno ' +
    'ono iscono arono erono irono erebbero irebbero assero essero issero ato ito uto avo evo ivo ar ir erà irà erò irò' });

  const prepared = (given) => {
    const signs = [...given.replace(/qu|[áéíóú]/g, (found) => ACCENTS[found])];
    for (let i = 0; i + 2 < signs.length; i++) {
      const between = isVowel(signs[i]) && isVowel(signs[i + 2]);
      if (between && (signs[i + 1] === 'u' || signs[i + 1] === 'i')) signs[i + 1] = signs[i + 1].toUpperCase();
    }
    return signs.join('');
  };

  const withoutPronoun = (word, pV) => {
    const pronoun = longestEnding(PRONOUNS, word);
    if (pronoun === undefined) return word;
    const stem = withoutLast(word, pronoun.length), verb = longestEnding(VERBS, stem);
    return verb === undefined || stem.length - verb.length < pV ? word : stem + VERBS.get(verb);
  };

  /* The word without a standard suffix; undefined where there is none to remove. */
  const withoutStandard = (word, pV, p1, p2) => {
    const suffix = longestEnding(STANDARD, word);
    if (suffix === undefined) return undefined;
    const kind = STANDARD.get(suffix);
    let stem = withoutLast(word, suffix.length);
    if (stem.length < (kind === 'mento' ? pV : kind === 'amente' ? p1 : p2)) return undefined;
    const more = (NEXT[kind] ?? []).find((one) => stem.endsWith(one));
    if (more !== undefined && stem.length - more.length >= p2) {
      stem = withoutLast(stem, more.length);
      const then = more === 'iv' && kind === 'amente' ? 'at' : kind === 'ivo' ? 'ic' : undefined;
      if (then !== undefined && stem.endsWith(then) && stem.length - 2 >= p2) stem = withoutLast(stem, 2);
    }
    return stem + (INSTEAD[kind] ?? '');
  };

  const withoutVowel = (given, pV) => {
    let word = given;
    if (isFinal(word[word.length - 1]) && word.length > pV) {
      word = withoutLast(word, 1);
      if (word.endsWith('i') && word.length > pV) word = withoutLast(word, 1);
    }
    // The place that must be in the region is that before c or g.
    return /[cg]h$/.test(word) && word.length - 2 >= pV ? withoutLast(word, 1) : word;
  };

  return (given) => {
    const start = prepared(given), p1 = regionFrom(start, 0, isVowel), p2 = regionFrom(start, p1, isVowel);
    const pV = start.startsWith('divan') ? 5 : romanceRegion(start, isVowel);
    const word = withoutPronoun(start, pV);
    let found = withoutStandard(word, pV, p1, p2);
    if (found === undefined) {
      const suffix = longestEnding(VERB_ENDINGS, word, pV);
      found = suffix === undefined ? word : withoutLast(word, suffix.length);
    }
    return withoutVowel(found, pV).replace(/[IU]/g, (sign) => sign.toLowerCase());
  };
})();
