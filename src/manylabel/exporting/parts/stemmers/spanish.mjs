/* The Spanish stemmer of Snowball 3, https://snowballstem.org/algorithms/spanish/stemmer.html. */
const STEM = (() => {
  const PLAIN = { á: 'a', é: 'e', í: 'i', ó: 'o', ú: 'u' };
  const PRONOUNS = endingsOf({ any: 'la sela le me se lo selo las selas les los selos nos' });
  const VERBS = endingsOf({ plain: 'ando iendo ar er ir', y: 'yendo', ando: 'ándo', iendo: 'iéndo', ar: 'ár', er: 'ér',
    ir: 'ír' });
  const STANDARD = endingsOf({
    plain: 'ica osa ista anza able ible ico ismo oso amiento imiento icas osas istas anzas ables ibles icos ismos osos ' +
      'amientos imientos',
    ator: 'ancia adora ante acion ación ador ancias adoras aciones adores antes', logy: 'logía logías',
    ution: 'ucion ución uciones', ence: 'encia encias', amente: 'amente', mente: 'mente', idad: 'idad idades',
    ivo: 'iva ivo ivas ivos' });
  const NEXT = { ator: ['ic'], amente: ['ic', 'ad', 'os', 'iv'], mente: ['able', 'ible', 'ante'],
    idad: ['ic', 'abil', 'iv'], ivo: ['at'] };
  const INSTEAD = { logy: 'log', ution: 'u', ence: 'ente' };
  const Y_VERBS = endingsOf({ y: 'ya ye yan yen yeron yendo yo yas yes yais yamos yó' });
  const VERB_ENDINGS = endingsOf({
    gu: 'en es éis emos',
    plain: 'aba ada ida ara iera ía aría ería iría ad ed id ase iese aste iste an aban aran ieran ían arían erían irían asen ' +
      'iesen aron ieron arán erán irán ado ido ando iendo ar er ir as abas adas idas aras ieras ías arías erías irías ' +
      'ases ieses abais arais ierais íais aríais eríais iríais aseis ieseis asteis isteis áis aréis eréis iréis ados ' +
      'idos amos ábamos áramos iéramos íamos aríamos eríamos iríamos aremos eremos iremos ásemos iésemos imos arás ' +
      'erás irás ís ará erá irá aré eré iré ió' });
  const RESIDUAL = endingsOf({ plain: 'os a o á í ó', gu: 'e é' });

  const isVowel = lettersOf('aeiouáéíóúü');

  const withoutPronoun = (word, pV) => {
    const pronoun = longestEnding(PRONOUNS, word);
    if (pronoun === undefined) return word;
    const stem = withoutLast(word, pronoun.length), verb = longestEnding(VERBS, stem);
    if (verb === undefined || stem.length - verb.length < pV) return word;
    const kind = VERBS.get(verb);
    if (kind === 'y') return stem.endsWith('uyendo') ? stem : word;
    return kind === 'plain' ? stem : withoutLast(stem, verb.length) + kind;
  };

  /* The word without a standard suffix; undefined where there is none to remove. */
  const withoutStandard = (word, p1, p2) => {
    const suffix = longestEnding(STANDARD, word);
    if (suffix === undefined) return undefined;
    const kind = STANDARD.get(suffix);
    let stem = withoutLast(word, suffix.length);
    if (stem.length < (kind === 'amente' ? p1 : p2)) return undefined;
    const more = (NEXT[kind] ?? []).find((one) => stem.endsWith(one));
    if (more !== undefined && stem.length - more.length >= p2) {
      stem = withoutLast(stem, more.length);
      if (kind === 'amente' && more === 'iv' && stem.endsWith('at') && stem.length - 2 >= p2) stem = withoutLast(stem, 2);
    }
    return stem + (INSTEAD[kind] ?? '');
  };

  const withoutVerb = (word, pV) => {
    const yVerb = longestEnding(Y_VERBS, word, pV);
    if (yVerb !== undefined && withoutLast(word, yVerb.length).endsWith('u')) return withoutLast(word, yVerb.length);
    const suffix = longestEnding(VERB_ENDINGS, word, pV);
    if (suffix === undefined) return word;
    const stem = withoutLast(word, suffix.length);
    return VERB_ENDINGS.get(suffix) === 'gu' && stem.endsWith('gu') ? withoutLast(stem, 1) : stem;
  };

  const withoutResidual = (word, pV) => {
    const suffix = longestEnding(RESIDUAL, word);
    if (suffix === undefined || word.length - suffix.length < pV) return word;
    const stem = withoutLast(word, suffix.length);
    return RESIDUAL.get(suffix) === 'gu' && stem.endsWith('gu') && stem.length - 1 >= pV ? withoutLast(stem, 1) : stem;
  };

  return (given) => {
    const pV = romanceRegion(given, isVowel), p1 = regionFrom(given, 0, isVowel), p2 = regionFrom(given, p1, isVowel);
    const word = withoutPronoun(given, pV);
    const found = withoutStandard(word, p1, p2) ?? withoutVerb(word, pV);
    return withoutResidual(found, pV).replace(/[áéíóú]/g, (sign) => PLAIN[sign]);
  };
})();
