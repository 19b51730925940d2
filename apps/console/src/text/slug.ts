// Letters that normalisation does not split into a base letter and an accent.
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  å: 'a',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

// A name as part of a URL: "Große Straße" becomes grosse-strasse.
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[ßæœøåłđðþı]/g, letter => plainLetters[letter]!)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40)
    .replace(/-+$/, '');
