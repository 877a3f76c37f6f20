/* The Portuguese stemmer of Snowball 3, https://snowballstem.org/algorithms/portuguese/stemmer.html. */
const STEM = (() => {
  const isVowel = lettersOf('aeiouáâéêíóôú');
  const STANDARD = endingsOf({
    plain: 'ica ância adora osa ista eza ante ável ível ico ismo oso amento imento aça~o ador icas adoras osas istas ' +
      'ezas adores antes aço~es icos ismos osos amentos imentos',
    logy: 'logia logias', ution: 'uça~o uço~es', ence: 'ência ências', amente: 'amente', mente: 'mente',
    idade: 'idade idades', ivo: 'iva ivo ivas ivos', ira: 'ira iras' });
  const NEXT = { amente: ['ic', 'ad', 'os', 'iv'], mente: ['ante', 'avel', 'ível'], idade: ['ic', 'abil', 'iv'],
    ivo: ['at'] };
  const INSTEAD = { logy: 'log', ution: 'u', ence: 'ente' };
  const VERB_ENDINGS = endingsOf({ any:
    'ada ida ia aria eria iria ara era ira ava asse esse isse aste este iste ei arei erei irei am iam ariam eriam iriam ' +
    'aram eram iram avam em arem erem irem assem essem issem ado ido ando endo indo ara~o era~o ira~o ar er ir as adas ' +
    'idas ias arias erias irias aras eras iras avas es ardes erdes irdes ares eres ires asses esses isses astes estes ' +
    'istes is ais eis areis ereis ireis áreis éreis íreis ásseis ésseis ísseis áveis íeis aríeis eríeis iríeis ados ' +
    'idos amos áramos éramos íramos ávamos íamos aríamos eríamos iríamos emos aremos eremos iremos ássemos êssemos ' +
    'íssemos imos armos ermos irmos ámos arás erás irás eu iu ou ará erá irá' });
  const RESIDUAL = endingsOf({ any: 'a i o os á í ó' });

  /* The word without a standard suffix; undefined where there is none to remove. */
  const withoutStandard = (word, pV, p1, p2) => {
    const suffix = longestEnding(STANDARD, word);
    if (suffix === undefined) return undefined;
    const kind = STANDARD.get(suffix);
    let stem = withoutLast(word, suffix.length);
    if (kind === 'ira') return stem.length >= pV && stem.endsWith('e') ? stem + 'ir' : undefined;
    if (stem.length < (kind === 'amente' ? p1 : p2)) return undefined;
    const more = (NEXT[kind] ?? []).find((one) => stem.endsWith(one));
    if (more !== undefined && stem.length - more.length >= p2) {
      stem = withoutLast(stem, more.length);
      if (kind === 'amente' && more === 'iv' && stem.endsWith('at') && stem.length - 2 >= p2) stem = withoutLast(stem, 2);
    }
    return stem + (INSTEAD[kind] ?? '');
  };

  const withoutVerb = (word, pV) => {
    const suffix = longestEnding(VERB_ENDINGS, word, pV);
    return suffix === undefined ? undefined : withoutLast(word, suffix.length);
  };

  const withoutResidual = (word, pV) => {
    const suffix = longestEnding(RESIDUAL, word);
    return suffix === undefined || word.length - suffix.length < pV ? word : withoutLast(word, suffix.length);
  };

  const finished = (word, pV) => {
    if (word.endsWith('ç')) return withoutLast(word, 1) + 'c';
    if (!/[eéê]$/.test(word) || word.length - 1 < pV) return word;
    const stem = withoutLast(word, 1);
    return /(gu|ci)$/.test(stem) && stem.length - 1 >= pV ? withoutLast(stem, 1) : stem;
  };

  return (given) => {
    const start = given.replaceAll('ã', 'a~').replaceAll('õ', 'o~'), pV = romanceRegion(start, isVowel);
    const p1 = regionFrom(start, 0, isVowel), p2 = regionFrom(start, p1, isVowel);
    let word = withoutStandard(start, pV, p1, p2) ?? withoutVerb(start, pV);
    if (word === undefined) word = withoutResidual(start, pV);
    else if (word.endsWith('ci') && word.length - 1 >= pV) word = withoutLast(word, 1);
    return finished(word, pV).replaceAll('a~', 'ã').replaceAll('o~', 'õ');
  };
})();
