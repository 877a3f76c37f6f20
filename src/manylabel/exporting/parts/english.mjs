/* The English stemmer of Snowball 3 (Porter 2), https://snowballstem.org/algorithms/english/stemmer.html. */
const STEM = (() => {
  const VOWELS = 'aeiouy', NOT_SHORT = 'aeiouywxY';
  const KEPT = { andes: 'andes', atlas: 'atlas', bias: 'bias', cosmos: 'cosmos', early: 'earli', gently: 'gentl',
    howe: 'howe', idly: 'idl', news: 'news', only: 'onli', singly: 'singl', skies: 'sky', skis: 'ski', sky: 'sky',
    ugly: 'ugli' };
  const LONG = ['arsen', 'commun', 'emerg', 'gener', 'inter', 'later', 'organ', 'past', 'univers'];
  const STEP_2 = { anci: 'ance', enci: 'ence', ogi: 'og', li: '', bli: 'ble', abli: 'able', alli: 'al', fulli: 'ful',
    lessli: 'less', ousli: 'ous', entli: 'ent', aliti: 'al', biliti: 'ble', iviti: 'ive', tional: 'tion',
    ational: 'ate', alism: 'al', ation: 'ate', ization: 'ize', izer: 'ize', ator: 'ate', iveness: 'ive',
    fulness: 'ful', ousness: 'ous', ogist: 'og' };
  const STEP_3 = { icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic', tional: 'tion', ational: 'ate',
    ful: '', ness: '' };
  const STEP_4 = { ic: '', ance: '', ence: '', able: '', ible: '', ate: '', ive: '', ize: '', iti: '', al: '',
    ism: '', ion: '', er: '', ous: '', ant: '', ent: '', ment: '', ement: '' };
  const DOUBLES = ['bb', 'dd', 'ff', 'gg', 'mm', 'nn', 'pp', 'rr', 'tt'];

  const isVowel = (sign) => sign !== undefined && sign !== '' && VOWELS.includes(sign);
  const hasVowel = (text) => [...text].some(isVowel);
  const own = (table, word) => (Object.hasOwn(table, word) ? table[word] : undefined);

  /* The longest key of a table that ends the word. */
  const ending = (table, word, longest) => {
    for (let n = Math.min(longest, word.length); n > 0; n--) {
      const suffix = word.slice(word.length - n);
      if (Object.hasOwn(table, suffix)) return suffix;
    }
    return undefined;
  };

  /* Where the region behind the first consonant after a vowel begins. */
  const region = (word, from) => {
    let at = from;
    while (at < word.length && !isVowel(word[at])) at++;
    while (at < word.length && isVowel(word[at])) at++;
    return Math.min(at + 1, word.length);
  };

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
    const suffix = ending(STEP_2, word, 7);
    if (suffix === undefined || word.length - suffix.length < p1) return word;
    const stem = word.slice(0, word.length - suffix.length);
    if (suffix === 'ogi' && !stem.endsWith('l')) return word;
    if (suffix === 'li' && (stem === '' || !'cdeghkmnrt'.includes(stem[stem.length - 1]))) return word;
    return stem + STEP_2[suffix];
  };

  const step3 = (word, p1, p2) => {
    const suffix = ending(STEP_3, word, 7);
    if (suffix === undefined) return word;
    const start = word.length - suffix.length;
    return start < p1 || (suffix === 'ative' && start < p2) ? word : word.slice(0, start) + STEP_3[suffix];
  };

  const step4 = (word, p2) => {
    const suffix = ending(STEP_4, word, 5);
    if (suffix === undefined || word.length - suffix.length < p2) return word;
    const stem = word.slice(0, word.length - suffix.length);
    return suffix === 'ion' && !stem.endsWith('s') && !stem.endsWith('t') ? word : stem;
  };

  const step5 = (word, p1, p2) => {
    const stem = word.slice(0, -1);
    if (word.endsWith('e')) return stem.length >= p2 || (stem.length >= p1 && !endsShort(stem)) ? stem : word;
    return word.endsWith('ll') && stem.length >= p2 ? stem : word;
  };

  const stemPlain = (given) => {
    const kept = own(KEPT, given);
    if (kept !== undefined) return kept;
    if (given.length < 3) return given;
    let word = '', marked = false;
    for (const sign of given) {
      const isConsonant = sign === 'y' && (word === '' || isVowel(word[word.length - 1]));
      marked ||= isConsonant;
      word += isConsonant ? 'Y' : sign;
    }
    const long = LONG.find((one) => word.startsWith(one));
    const p1 = long === undefined ? region(word, 0) : long.length;
    const p2 = region(word, p1);
    word = step1b(step1a(word), p1);
    if (/[yY]$/.test(word) && word.length > 2 && !isVowel(word[word.length - 2])) word = word.slice(0, -1) + 'i';
    word = step5(step4(step3(step2(word, p1), p1, p2), p2), p1, p2);
    return marked ? word.replaceAll('Y', 'y') : word;
  };

  /* Characters beyond the basic plane count as one letter: they are replaced by a sign of one unit, and put back. */
  return (word) => {
    if (!/[\ud800-\udfff]/.test(word)) return stemPlain(word);
    const large = word.match(/[\u{10000}-\u{10ffff}]/gu) ?? [];
    let next = 0;
    return stemPlain(word.replace(/[\u{10000}-\u{10ffff}]/gu, '\ue000')).replace(/\ue000/g, () => large[next++]);
  };
})();
