/* The German stemmer of Snowball 3, https://snowballstem.org/algorithms/german/stemmer.html. */
const STEM = (() => {
  const PLAIN = { U: 'u', Y: 'y', ä: 'a', ö: 'o', ü: 'u' };
  const SPELLED = { ae: 'ä', oe: 'ö', ue: 'ü', ß: 'ss', qu: 'qu' };
  const isVowel = lettersOf('aeiouyäöü');
  const endsIn = (word, letters) => word !== '' && letters.includes(word[word.length - 1]);

  /* The first of the endings, the longest first, that ends the word. */
  const ending = (word, ...endings) => endings.find((one) => word.endsWith(one));

  const prepared = (given) => {
    const signs = [...given];
    for (let i = 0; i + 2 < signs.length; i++) {
      const between = isVowel(signs[i]) && isVowel(signs[i + 2]);
      if (between && (signs[i + 1] === 'u' || signs[i + 1] === 'y')) signs[i + 1] = signs[i + 1].toUpperCase();
    }
    return signs.join('').replace(/qu|ae|oe|ue|ß/g, (found) => SPELLED[found]);
  };

  const step1 = (word, p1) => {
    const suffix = ending(word, 'erinnen', 'erin', 'ern', 'lns', 'em', 'en', 'er', 'es', 'ln', 'e', 's');
    if (suffix === undefined || word.length - suffix.length < p1) return word;
    const stem = withoutLast(word, suffix.length);
    if (suffix === 'em') return stem.endsWith('syst') ? word : stem;
    if (suffix === 's') return endsIn(stem, 'bdfghklmnrt') ? stem : word;
    if (suffix.startsWith('l')) return stem + 'l';
    return ['e', 'en', 'es'].includes(suffix) && stem.endsWith('niss') ? withoutLast(stem, 1) : stem;
  };

  const step2 = (word, p1) => {
    const suffix = ending(word, 'est', 'en', 'er', 'et', 'st');
    if (suffix === undefined || word.length - suffix.length < p1) return word;
    const stem = withoutLast(word, suffix.length);
    if (suffix === 'st') return endsIn(stem, 'bdfghklmnt') && stem.length > 3 ? stem : word;
    if (suffix !== 'et') return stem;
    const kept = ending(stem, 'tick', 'plan', 'geordn', 'intern', 'tr') !== undefined;
    return endsIn(stem, 'Udfgklmnrstzä') && !kept ? stem : word;
  };

  const step3 = (word, p1, p2) => {
    const suffix = ending(word, 'lich', 'isch', 'heit', 'keit', 'end', 'ung', 'ig', 'ik');
    if (suffix === undefined || word.length - suffix.length < p2) return word;
    const stem = withoutLast(word, suffix.length);
    if (['ig', 'ik', 'isch'].includes(suffix)) return stem.endsWith('e') ? word : stem;
    if (suffix === 'end' || suffix === 'ung') {
      const again = stem.endsWith('ig') && !stem.endsWith('eig') && stem.length - 2 >= p2;
      return again ? withoutLast(stem, 2) : stem;
    }
    if (suffix === 'keit') {
      const more = ending(stem, 'lich', 'ig');
      return more !== undefined && stem.length - more.length >= p2 ? withoutLast(stem, more.length) : stem;
    }
    return ending(stem, 'er', 'en') !== undefined && stem.length - 2 >= p1 ? withoutLast(stem, 2) : stem;
  };

  return (given) => {
    const word = prepared(given), long = word.length >= 3;
    const first = long ? regionFrom(word, 0, isVowel) : word.length, p2 = regionFrom(word, first, isVowel);
    const p1 = long ? Math.max(first, 3) : word.length;
    return step3(step2(step1(word, p1), p1), p1, p2).replace(/[UYäöü]/g, (sign) => PLAIN[sign]);
  };
})();
