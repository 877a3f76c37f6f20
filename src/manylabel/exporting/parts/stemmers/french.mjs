/* The French stemmer of Snowball 3, https://snowballstem.org/algorithms/french/stemmer.html. */
const STEM = (() => {
  const STANDARD = endingsOf({
    plain: 'iqUe ance able isme iste eux iqUes ances ables ismes istes',
    ator: 'atrice ation ateur atrices ations ateurs', logy: 'logie logies', usion: 'usion ution usions utions',
    ence: 'ence ences', ement: 'ement ements', ity: 'ité ités', ive: 'ive if ives ifs', eaux: 'eaux', aux: 'aux',
    oux: 'oux', euse: 'euse euses', issement: 'issement issements', amment: 'amment', emment: 'emment',
    ment: 'ment ments' });
  const BEFORE_EMENT = endingsOf({ iv: 'iv', eus: 'eus', r2: 'iqU abl', ier: 'ièr Ièr' });
  const BEFORE_ITY = endingsOf({ abl: 'abil', iqU: 'ic', r2: 'iv' });
  const I_VERBS = endingsOf({ plain: 'ira ie isse issante i irai ir iras ies îmes isses issantes îtes is irais issais ' +
    'irions issions irons issons issants it irait issait issant iraIent issaIent irent issent iront ît iriez issiez ' +
    'irez issez' });
  const VERBS = endingsOf({
    r2: 'ions',
    plain: 'era ée erai er eras ées eais erais erions erons és erait eraIent èrent eront ez iez eriez erez é',
    e: 'a asse ante ai as âmes asses antes âtes assions ants ait ant aIent assent ât assiez',
    ais: 'aise aises ais' });
  const RESIDUAL = endingsOf({ e: 'e', ier: 'Ière ière Ier ier', ion: 'ion' });

  const isVowel = lettersOf('aeiouyàâèéêëîïôùû');
  const last = (word) => word[word.length - 1];

  const verbRegion = (word) => {
    if (isVowel(word[0]) && isVowel(word[1]) && word.length > 2) return 3;
    if (/^(col|par|tap)/.test(word) || (word.startsWith('ni') && isVowel(word[2]))) return 3;
    return placeBehind(word, 1, isVowel, true);
  };

  /* Vowels that are read as consonants in upper case; ë and ï as He and Hi. */
  const prepared = (given) => {
    const signs = [...given];
    for (let at = 0; at < signs.length; ) {
      const [sign, next] = [signs[at], signs[at + 1]];
      if (isVowel(sign) && (next === 'u' || next === 'i') && isVowel(signs[at + 2])) signs[at + 1] = next.toUpperCase();
      else if (isVowel(sign) && next === 'y') signs[at + 1] = 'Y';
      else if (sign === 'ë') signs.splice(at, 1, 'H', 'e');
      else if (sign === 'ï') signs.splice(at, 1, 'H', 'i');
      else if (sign === 'y' && isVowel(next)) signs[at] = 'Y';
      else if (sign === 'q' && next === 'u') signs[at + 1] = 'U';
      else at++;
    }
    return signs.join('');
  };

  /* The word without a standard suffix, and whether that was all to remove. */
  const standard = (word, { pV, p1, p2 }) => {
    const suffix = longestEnding(STANDARD, word);
    if (suffix === undefined) return [word, false];
    const kind = STANDARD.get(suffix), stem = withoutLast(word, suffix.length), at = stem.length;
    const removed = (text, n, instead) => (text.length - n >= p2 ? withoutLast(text, n) : instead);
    const icOf = (text) => (text.endsWith('ic') ? removed(text, 2, withoutLast(text, 2) + 'iqU') : text);
    if (['plain', 'ator', 'logy', 'usion', 'ence', 'ity', 'ive'].includes(kind) && at < p2) return [word, false];
    switch (kind) {
      case 'plain': return [stem, true];
      case 'ator': return [icOf(stem), true];
      case 'logy': return [stem + 'log', true];
      case 'usion': return [stem + 'u', true];
      case 'ence': return [stem + 'ent', true];
      case 'ement': return at < pV ? [word, false] : [ement(stem, removed, pV, p1, p2), true];
      case 'ity': {
        const more = longestEnding(BEFORE_ITY, stem);
        if (more === undefined) return [stem, true];
        const instead = BEFORE_ITY.get(more);
        return [removed(stem, more.length, instead === 'r2' ? stem : withoutLast(stem, more.length) + instead), true];
      }
      case 'ive': return [stem.endsWith('at') && at - 2 >= p2 ? icOf(withoutLast(stem, 2)) : stem, true];
      case 'eaux': return [stem + 'eau', true];
      case 'aux': return at < p1 ? [word, false] : [stem + 'al', true];
      case 'oux': return at > 0 && 'bhjlnp'.includes(last(stem)) ? [stem + 'ou', true] : [word, false];
      case 'euse': return at >= p2 ? [stem, true] : at >= p1 ? [stem + 'eux', true] : [word, false];
      case 'issement': return at >= p1 && at > 0 && !isVowel(last(stem)) ? [stem, true] : [word, false];
      case 'amment': return [at < pV ? word : stem + 'ant', false];
      case 'emment': return [at < pV ? word : stem + 'ent', false];
      default: return [isVowel(last(stem)) && at - 1 >= pV ? stem : word, false];
    }
  };

  const ement = (stem, removed, pV, p1, p2) => {
    const more = longestEnding(BEFORE_EMENT, stem);
    if (more === undefined) return stem;
    const rest = withoutLast(stem, more.length), at = rest.length;
    switch (BEFORE_EMENT.get(more)) {
      case 'iv': return at < p2 ? stem : rest.endsWith('at') ? removed(rest, 2, rest) : rest;
      case 'eus': return at >= p2 ? rest : at >= p1 ? rest + 'eux' : stem;
      case 'r2': return at >= p2 ? rest : stem;
      default: return at >= pV ? rest + 'i' : stem;
    }
  };

  const iVerb = (word, pV) => {
    const suffix = longestEnding(I_VERBS, word, pV);
    if (suffix === undefined) return [word, false];
    const stem = withoutLast(word, suffix.length);
    return stem.length <= pV || stem.endsWith('H') || isVowel(last(stem)) ? [word, false] : [stem, true];
  };

  const verb = (word, pV, p2) => {
    const suffix = longestEnding(VERBS, word, pV);
    if (suffix === undefined) return [word, false];
    const stem = withoutLast(word, suffix.length), kind = VERBS.get(suffix);
    if (kind === 'r2') return stem.length >= p2 ? [stem, true] : [word, false];
    if (kind === 'e') return [stem.endsWith('e') && stem.length - 1 >= pV ? withoutLast(stem, 1) : stem, true];
    return kind === 'ais' && /(épl|auv|^.al)$/.test(stem) ? [word, false] : [stem, true];
  };

  const residual = (given, pV, p2) => {
    const keeps = given.length > 1 && 'aiosuè'.includes(given[given.length - 2]) && !given.endsWith('His');
    const word = given.endsWith('s') && given.length > 1 && !keeps ? withoutLast(given, 1) : given;
    const suffix = longestEnding(RESIDUAL, word, pV);
    if (suffix === undefined) return word;
    const stem = withoutLast(word, suffix.length), kind = RESIDUAL.get(suffix);
    if (kind === 'e') return stem;
    if (kind === 'ier') return stem + 'i';
    return stem.length >= p2 && stem.length > pV && 'st'.includes(last(stem)) ? stem : word;
  };

  const finished = (word) => {
    let found = /(ell|eill|enn|onn|ett)$/.test(word) ? withoutLast(word, 1) : word;
    let at = found.length;
    while (at > 0 && !isVowel(found[at - 1])) at--;
    if (at < found.length && at > 0 && 'éè'.includes(found[at - 1])) found = found.slice(0, at - 1) + 'e' + found.slice(at);
    return found.replace(/He|Hi|H|I|U|Y/g, (sign) => ({ He: 'ë', Hi: 'ï', H: '', I: 'i', U: 'u', Y: 'y' })[sign]);
  };

  return (given) => {
    const start = prepared(given), pV = verbRegion(start), p1 = regionFrom(start, 0, isVowel);
    const p2 = regionFrom(start, p1, isVowel);
    let [word, done] = standard(start, { pV, p1, p2 });
    if (!done) [word, done] = iVerb(word, pV);
    if (!done) [word, done] = verb(word, pV, p2);
    if (!done) return finished(residual(word, pV, p2));
    if (word.endsWith('Y')) word = withoutLast(word, 1) + 'i';
    else if (word.endsWith('ç')) word = withoutLast(word, 1) + 'c';
    return finished(word);
  };
})();
