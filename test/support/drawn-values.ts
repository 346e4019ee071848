/** What generated requests are made of: ids, texts that stores have trouble with, numbers at limits. */
import type { Draw } from '../operations.ts'

/** Texts of one line: scripts, case with and without a partner, accents in both forms, signs that `like` knows. */
export const names = [
  ...['Café crème', 'CAFÉ CRÈME', 'café crème', 'Cafe\u0301 creme', 'École', 'école', 'ecole'],
  ...['Äpfel', 'äpfel', 'ÄPFEL', 'Apfel', 'Zebra', 'zebra', 'apple', 'Apple', 'apple pie'],
  ...['100% cotton', '100 percent', '100_percent', '50%_off', '%', '_', '%%', '\\%', '\\', 'a\\b'],
  ...["O'Neil", '"quoted"', '"', "'", "';--", '--', '.', '$1', '?1', '{}', '[1]', 'null', 'NULL'],
  ...['春の手紙', '春', '日本語テキスト', '日本', '한국어', 'עברית', 'ไทย', 'हिन्दी'],
  ...['😀', '😀😀 smile', '👨‍👩‍👧 family', '𝒜𝓁𝓅𝒽𝒶', '\u{10ffff}', '\uffff', '\ue000', '\ufffd'],
  ...['straße', 'STRASSE', 'ẞharp', 'ſpecial', 'İstanbul', 'istanbul', 'Istanbul', 'ıI', 'ﬃ'],
  ...['ΣΊΣΥΦΟΣ', 'σίσυφος', 'Ω', '\u2126', 'ǅ', 'ǆ', 'Ж', 'ж', 'a\u0001b', 'a\u007fb', 'a\u2028b'],
  ...[
    'a  b',
    'a b',
    'a\tb',
    'a-b',
    'ab',
    'A',
    'a',
    'B',
    'b',
    'z',
    '0',
    '9',
    '10',
    '\u200b',
    '\u00ad',
  ],
  'n'.repeat(200),
  '語'.repeat(200),
] as const

/** What is looked for: parts of them in either case, short and long, and what is in none. */
export const needles = [
  ...[
    'a',
    'A',
    'é',
    'É',
    'e',
    '%',
    '_',
    '\\',
    '"',
    "'",
    '春',
    '😀',
    ' ',
    '.',
    '\u0301',
    '',
    'ß',
    'İ',
  ],
  ...[
    'af',
    'fé',
    'FÉ',
    '%_',
    '\\%',
    '00',
    '日本',
    '😀😀',
    'ss',
    'ẞ',
    'i\u0307',
    '--',
    '"q',
    "'N",
    '\u2028',
  ],
  ...[
    'caf',
    'CAF',
    'afé',
    'AFÉ',
    'afe\u0301',
    '100',
    '0%_',
    '00%',
    '0_p',
    '\\\\\\',
    'a\\b',
    '春の手',
    '日本語',
  ],
  ...[
    'pple',
    'äPF',
    'ÄPF',
    'straße',
    'STRASSE',
    'strasse',
    'quoted"',
    "o'n",
    "';-",
    'σίσ',
    'ΣΊΣ',
    '   ',
    'a  b',
  ],
  ...[
    'crème',
    'CRÈME',
    'n'.repeat(60),
    'n'.repeat(201),
    'é'.repeat(150),
    'no such',
    'a\u0001b',
    '$1',
    '?1',
  ],
  ...[
    '\0',
    'a\0b',
    '*',
    'a*',
    'NEAR',
    'a OR b',
    '(',
    'caf OR 100',
    '\u200b',
    '\u{10ffff}',
    '\uffff',
  ],
]

/** Ids as paths have them, most of them near `highest`. */
export const idText = ({ of, upTo, chance }: Draw, highest: number): string => {
  if (chance(88)) return String(upTo(highest + 3, 1))
  return of(
    ...[
      '0',
      '1',
      '-1',
      '007',
      '1.0',
      '1e3',
      '+1',
      'abc',
      '%20',
      'null',
      '%00',
      '%F0%9F%98%80',
      '١',
    ],
    ...['2147483646', '2147483647', '2147483648', '4294967296', '9007199254740990'],
    ...['9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'],
    ...['9223372036854775808', '18446744073709551616', '99999999999999999999999'],
  )
}

/** Whole numbers as parameters have them. */
export const numberText = ({ of, upTo, chance }: Draw): string =>
  chance(88)
    ? String(upTo(12))
    : of(
        ...[
          '-1',
          '0',
          '-0',
          '+3',
          '100',
          '101',
          '1000',
          '',
          ' ',
          'abc',
          '1.5',
          '1e2',
          '0x10',
          'NaN',
        ],
        ...['2147483647', '2147483648', '9007199254740991', '9007199254740992'],
        ...['9223372036854775807', '9223372036854775808', '-9223372036854775809', '9'.repeat(40)],
      )

/** A value in place of the right one: of another type, or at a limit. */
export const odd = ({ of }: Draw): unknown =>
  of<unknown>(
    ...[null, '', ' ', '0', 'x', true, [], {}, [1], { a: 1 }, -1, -0, 0.1, 1e-7, 1e21, 1e308],
    ...[2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64, -(2 ** 63), 150.5],
    ...['a\0b', '\ud800', 'x\udfff', '\ud83d', 'n'.repeat(201), '語'.repeat(201), 'x'.repeat(3000)],
  )

export const emailOf = ({ of, upTo, chance }: Draw): string => {
  const known = `u${upTo(60, 1)}@example.org`
  if (chance(60))
    return `new${upTo(999_999)}@${of('example.org', 'Example.ORG', 'sub.example.net')}`
  return of(
    ...[known, known.toUpperCase(), ` ${known}\t`, known.replace('u', 'U'), 'ADA@example.org'],
    ...[
      `${'l'.repeat(64)}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.org`,
      'l'.repeat(260),
    ],
    ...[
      'é@example.org',
      'a@éxample.org',
      'no address',
      '@',
      "o'neil+tag@example.org",
      'a_b%c@example.org',
    ],
  )
}
