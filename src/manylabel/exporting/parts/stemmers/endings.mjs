/* What the stemmers share: endings, and the regions of a word. */

/* A test for letters; nothing is no letter. */
const lettersOf = (letters) => (sign) => sign !== undefined && sign !== '' && letters.includes(sign);

/* From ending to kind, given the endings of each kind, separated by blanks. */
const endingsOf = (kinds) =>
  new Map(Object.entries(kinds).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind])));

const withoutLast = (word, n) => word.slice(0, word.length - n);

/* The longest key of a table, up to nine letters, that ends the word and does not begin before a place. */
const longestEnding = (endings, word, from = 0) => {
  for (let n = Math.min(9, word.length - from); n > 0; n--) {
    const suffix = word.slice(word.length - n);
    if (endings.has(suffix)) return suffix;
  }
  return undefined;
};

/* The place behind the next vowel, or else the next other letter; the end of the word where there is none. */
const placeBehind = (word, from, isVowel, vowel) => {
  let at = from;
  while (at < word.length && isVowel(word[at]) !== vowel) at++;
  return Math.min(at + 1, word.length);
};

/* The place behind the first consonant after a vowel. */
const regionFrom = (word, from, isVowel) => placeBehind(word, placeBehind(word, from, isVowel, true), isVowel, false);

/* The region of verbs in Romance languages: behind the next vowel after a consonant, the next consonant after two
   vowels, and behind the third letter otherwise. */
const romanceRegion = (word, isVowel) => {
  if (word.length < 2) return word.length;
  if (!isVowel(word[1])) return placeBehind(word, 2, isVowel, true);
  return isVowel(word[0]) ? placeBehind(word, 2, isVowel, false) : Math.min(3, word.length);
};
