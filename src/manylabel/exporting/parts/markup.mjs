/* HTML in texts: tags, comments, scripts and styles are removed, character references resolved. */

const ENDS = { '': /-->/g, script: /<\/script\s*>/giu, style: /<\/style\s*>/giu };

function withoutMarkup(text) {
  if (!text.includes('<') && !text.includes('&')) return text;
  const beginning = /<!--|<(script|style)(?![\p{L}\p{N}_])/giu, kept = [], endless = new Set();
  let done = 0, match;
  while ((match = beginning.exec(text)) !== null) {
    const kind = (match[1] ?? '').toLowerCase().replace('\u017f', 's'), search = ENDS[kind];
    search.lastIndex = beginning.lastIndex;
    const end = endless.has(kind) ? null : search.exec(text);
    if (end === null) {
      endless.add(kind);
    } else {
      kept.push(text.slice(done, match.index));
      done = beginning.lastIndex = search.lastIndex;
    }
  }
  kept.push(text.slice(done));
  return unescaped(kept.join(' ').replace(/<[a-zA-Z/!?][^<>]*>/g, ' '));
}

function unescaped(text) {
  return text
    .replace(/&#[xX]?[0-9a-fA-F]{9,};?/g, '\ufffd')
    .replace(/&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)/gu, (whole, name) => {
      if (name[0] === '#') return reference(name.slice(1).replace(';', ''));
      if (Object.hasOwn(ENTITIES.names, name)) return ENTITIES.names[name];
      for (let n = name.length - 1; n > 1; n--) {
        const begin = name.slice(0, n);
        if (Object.hasOwn(ENTITIES.names, begin)) return ENTITIES.names[begin] + name.slice(n);
      }
      return whole;
    });
}

function reference(digits) {
  const sign = /^[xX]/.test(digits) ? parseInt(digits.slice(1), 16) : parseInt(digits, 10);
  if (Object.hasOwn(ENTITIES.replaced, sign)) return ENTITIES.replaced[sign];
  if ((sign >= 0xd800 && sign <= 0xdfff) || sign > 0x10ffff) return '\ufffd';
  return inRanges(ENTITIES.invalid, sign) ? '' : String.fromCodePoint(sign);
}
