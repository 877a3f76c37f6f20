/* The English stemmer of Snowball 3 (Porter 2), https://snowballstem.org/algorithms/english/stemmer.html. */
const STEM = (() => {
  const NOT_SHORT = 'aeiouywxY';
  const KEPT = new Map(Object.entries({
    andes: 'andes', atlas: 'atlas', bias: 'bias', cosmos: 'cosmos', early: 'earli', gently: 'gentl',
    howe: 'howe', idly: 'idl', news: 'news', only: 'onli', singly: 'singl', skies: 'sky', skis: 'ski', sky: 'sky',
    ugly: 'ugli' }));
  const LONG = ['arsen', 'commun', 'emerg', 'gener', 'inter', 'later', 'organ', 'past', 'univers'];
  const STEP_2 = new Map(Object.entries({
    anci: 'ance', enci: 'ence', ogi: 'og', li: '', bli: 'ble', abli: 'able', alli: 'al', fulli: 'ful',
    lessli: 'less', ousli: 'ous', entli: 'ent', aliti: 'al', biliti: 'ble', iviti: 'ive', tional: 'tion',
    ational: 'ate', alism: 'al', ation: 'ate', ization: 'ize', izer: 'ize', ator: 'ate', iveness: 'ive',
    fulness: 'ful', ousness: 'ous', ogist: 'og' }));
  const STEP_3 = new Map(Object.entries({
    icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic', tional: 'tion', ational: 'ate',
    ful: '', ness: '' }));
  const STEP_4 = new Map(Object.entries({
    ic: '', ance: '', ence: '', able: '', ible: '', ate: '', ive: '', ize: '', iti: '', al: '',
    ism: '', ion: '', er: '', ous: '', ant: '', ent: '', ment: '', ement: '' }));
  const DOUBLES = ['bb', 'dd', 'ff', 'gg', 'mm', 'nn', 'pp', 'rr', 'tt'];

  const isVowel = lettersOf('aeiouy');
  const hasVowel = (text) => [...text].some(isVowel);

  const endsShort = (word) => {
    const n = word.length;
    const last = word[n - 1], before = word[n - 2], first = word[n - 3];
    if (n >= 3 && !NOT_SHORT.includes(last) && isVowel(before) && !isVowel(first)) return true;
    return (n === 2 && !isVowel(last) && isVowel(before)) || word.endsWith('past');
  };

  const step1a = (word) => {
    if (word.endsWith('sses')) return word.slice(0, -2);
    if (word.endsWith('ied') || word.endsWith('ies')) return word.slice(0, word.length > 4 ? -2 : -1);
    if (word.endsWith('us') || word.endsWith('ss') || !word.endsWith('s')) return word;
    return hasVowel(word.slice(0, -2)) ? word.slice(0, -1) : word;
  };

  const step1b = (word, p1) => {
    const suffix = ['eedly', 'ingly', 'edly', 'eed', 'ing', 'ed'].find((one) => word.endsWith(one));
    if (suffix === undefined) return word;
    const stem = word.slice(0, word.length - suffix.length);
    if (suffix.startsWith('eed')) {
      return stem.length >= p1 && !['succ', 'proc', 'exc'].includes(stem) ? stem + 'ee' : word;
    }
    if (suffix === 'ing') {
      if (stem.length === 2 && stem[1] === 'y' && !isVowel(stem[0])) return stem[0] + 'ie';
      if (['even', 'cann', 'inn', 'earr', 'herr', 'out'].includes(stem)) return word;
    }
    if (!hasVowel(stem)) return word;
    if (stem.endsWith('at') || stem.endsWith('bl') || stem.endsWith('iz')) return stem + 'e';
    if (DOUBLES.includes(stem.slice(-2))) {
      return stem.length === 3 && 'aeo'.includes(stem[0]) ? stem : stem.slice(0, -1);
    }
    return stem.length === p1 && endsShort(stem) ? stem + 'e' : stem;
  };

  const step2 = (word, p1) => {
    const suffix = longestEnding(STEP_2, word);
    if (suffix === undefined || word.length - suffix.length < p1) return word;
    const stem = word.slice(0, word.length - suffix.length);
    if (suffix === 'ogi' && !stem.endsWith('l')) return word;
    if (suffix === 'li' && (stem === '' || !'cdeghkmnrt'.includes(stem[stem.length - 1]))) return word;
    return stem + STEP_2.get(suffix);
  };

  const step3 = (word, p1, p2) => {
    const suffix = longestEnding(STEP_3, word);
    if (suffix === undefined) return word;
    const start = word.length - suffix.length;
    return start < p1 || (suffix === 'ative' && start < p2) ? word : word.slice(0, start) + STEP_3.get(suffix);
  };

  const step4 = (word, p2) => {
    const suffix = longestEnding(STEP_4, word);
    if (suffix === undefined || word.length - suffix.length < p2) return word;
    const stem = word.slice(0, word.length - suffix.length);
    return suffix === 'ion' && !stem.endsWith('s') && !stem.endsWith('t') ? word : stem;
  };

  const step5 = (word, p1, p2) => {
    const stem = word.slice(0, -1);
    if (word.endsWith('e')) return stem.length >= p2 || (stem.length >= p1 && !endsShort(stem)) ? stem : word;
    return word.endsWith('ll') && stem.length >= p2 ? stem : word;
  };

  return (given) => {
    if (KEPT.has(given)) return KEPT.get(given);
    if (given.length < 3) return given;
    let word = '', marked = false;
    for (const sign of given) {
      const isConsonant = sign === 'y' && (word === '' || isVowel(word[word.length - 1]));
      marked ||= isConsonant;
      word += isConsonant ? 'Y' : sign;
    }
    const long = LONG.find((one) => word.startsWith(one));
    const p1 = long === undefined ? regionFrom(word, 0, isVowel) : long.length;
    const p2 = regionFrom(word, p1, isVowel);
    word = step1b(step1a(word), p1);
    if (/[yY]$/.test(word) && word.length > 2 && !isVowel(word[word.length - 2])) word = word.slice(0, -1) + 'i';
    word = step5(step4(step3(step2(word, p1), p1, p2), p2), p1, p2);
    return marked ? word.replaceAll('Y', 'y') : word;
  };
})();
