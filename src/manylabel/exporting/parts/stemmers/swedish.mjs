/* The Swedish stemmer of Snowball 3, https://snowballstem.org/algorithms/swedish/stemmer.html. */
const STEM = (() => {
  const isVowel = lettersOf('aeiouyäåö'), beforeS = lettersOf('bcdfghjklmnoprtvy'), beforeOst = lettersOf('iklnprtuv');
  const MAIN = endingsOf({
    plain: 'a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ' +
      'ornas es ades andes ens arens hetens erns at andet het ast',
    s: 's', et: 'et' });
  const OTHER = endingsOf({ plain: 'ig lig els', full: 'fullt', ost: 'öst' });
  const KEPT = /(fab|h|pak|rak|stak|kom|iet|cit|dit|alit|ilit|mit|nit|pit|rit|sit|tit|uit|ivit|kvit|xit)$/;
  const last = (word) => word[word.length - 1];

  /* Whether "et" can be removed behind a stem. */
  const allowsEt = (stem) =>
    stem.length > 2 && !isVowel(last(stem)) && isVowel(stem[stem.length - 2]) && !KEPT.test(stem);

  const main = (word, p1) => {
    const suffix = longestEnding(MAIN, word, p1);
    if (suffix === undefined) return word;
    const stem = withoutLast(word, suffix.length), kind = MAIN.get(suffix);
    if (kind === 'et') return allowsEt(stem) ? stem : word;
    if (kind === 's') {
      if (stem.endsWith('et') && allowsEt(withoutLast(stem, 2))) return withoutLast(stem, 2);
      return beforeS(last(stem)) ? stem : word;
    }
    return stem;
  };

  const other = (word, p1) => {
    const suffix = longestEnding(OTHER, word, p1);
    if (suffix === undefined) return word;
    const stem = withoutLast(word, suffix.length), kind = OTHER.get(suffix);
    if (kind === 'full') return stem + 'full';
    if (kind === 'ost') return beforeOst(last(stem)) ? stem + 'ös' : word;
    return stem;
  };

  return (given) => {
    if (given.length < 3) return given;
    const p1 = Math.max(regionFrom(given, 0, isVowel), 3);
    let word = main(given, p1);
    if (word.length - p1 >= 2 && /(dd|gd|nn|dt|gt|kt|tt)$/.test(word)) word = withoutLast(word, 1);
    return other(word, p1);
  };
})();
