/** Bodies of the REST API, of up to 1 MiB. */
import { filled, json, mebibyte, type Shape, times } from './shape.ts'

/** An object of so many lists of so many elements. */
export const lists = (element: string, length: number, count: number): string => {
  const list = `[${times(length, () => element)}]`
  return `{${times(count, n => `"l${n}":${list}`)}}`
}

/** An object of so many objects of 1,000 members. */
const objects = (count: number, nameOf: (n: number) => string): string => {
  const one = `{${times(1000, n => `"${nameOf(n)}":0`)}}`
  return `{${times(count, n => `"o${n}":${one}`)}}`
}

const user = (member: string, value: string): string =>
  JSON.stringify({ name: 'n', email: 'a@example.org', [member]: value })

const product = (image: string): string =>
  JSON.stringify({ name: 'n', category: 'c', price: 1, stock: 1, image })

const rest = (name: string, text: string, status = 422, line = 'POST /api/users'): Shape => ({
  name,
  line,
  headers: json,
  body: () => text,
  status,
})

const structures: readonly Shape[] = [
  rest('50,000 numbers', lists('1', 9990, 5)),
  rest('520,000 numbers', lists('1', 10_000, 52)),
  rest('24,000 empty objects', lists('{}', 6000, 4)),
  rest('350,000 empty objects', lists('{}', 10_000, 34)),
  rest(
    '49,000 members in 49 objects',
    objects(49, n => `member-${n}`),
  ),
  rest(
    '85,000 members in 85 objects',
    objects(85, n => `m${n}`),
  ),
  rest(
    '49,000 members called by multiples of 65,536',
    objects(49, n => String(n * 65_536)),
  ),
  rest(
    '45,000 members with escaped names',
    objects(45, n => `\\u0061\\u4e00${n}`),
  ),
  rest('45,000 numbers of 20 digits', lists('-1.23456789012345e-300'.slice(0, 20), 9000, 5)),
  rest('brackets alone', '['.repeat(mebibyte), 400),
  rest('backslashes alone', filled('{"name":"', '\\\\', '"}')),
  rest('quotes in a text', filled('{"name":"', '\\"', '"}')),
  rest('escapes of six letters', filled('{"name":"', '\\u00e9', '"}')),
  rest('one number of a million digits', filled('{"age":', '9', '}')),
  rest('one name of a million letters', filled('{"', 'a', '":1}')),
  rest(
    'a member given twice at the end',
    `{${times(900, n => `"m${n}":"${'x'.repeat(1000)}"`)},"m1":1}`,
    400,
  ),
  rest('no JSON at the end', `{"a":[${times(9000, () => '1')},"b":"${'x'.repeat(900_000)}"`, 400),
]

const values: readonly Shape[] = [
  rest('a name with white space inside', user('name', filled('a', ' ', 'a', 1_048_000))),
  rest('a name of lone surrogates', filled('{"email":"a@example.org","name":"', '\\ud800', '"}')),
  rest('an email of dots', user('email', filled('', 'a.', '@', 1_048_000))),
  rest('an email of hyphens', user('email', filled('a@', 'a-', '', 1_048_000))),
  rest('1,000 members that nobody knows', `{${times(1000, n => `"${'x'.repeat(900)}${n}":0`)}}`),
  rest(
    'an image at a long address',
    product(`https://example.org/${'%C3%A9/../'.repeat(99_000)}`),
    422,
    'POST /api/products',
  ),
  rest(
    'a price of a million digits',
    filled('{"name":"n","category":"c","stock":1,"price":0.', '1', '}'),
    422,
    'POST /api/products',
  ),
  rest(
    'an order of 10,000 bad items',
    JSON.stringify({
      items: Array.from({ length: 10_000 }, (_, n) => ({ productId: `x${n}`, quantity: -1 })),
    }),
    422,
    'POST /api/orders',
  ),
  rest(
    'a post of 100,000 letters that fold',
    JSON.stringify({ title: 'ẞ', content: '\u{10400}ẞİ'.repeat(33_333) }),
    201,
    'POST /api/users/1/posts',
  ),
  {
    ...rest(
      'a key, and 1 MiB of control characters',
      `{${times(900, n => `"m${n}":"${'\\u0000'.repeat(150)}"`)}}`,
    ),
    headers: { ...json, 'Idempotency-Key': 'k' },
  },
  {
    name: 'a picture of 512 KiB',
    line: 'PUT /api/users/1/avatar',
    headers: { 'Content-Type': 'image/png' },
    body: () =>
      Buffer.concat([
        Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
        Buffer.alloc(524_000),
      ]),
    status: 204,
  },
]

export const bodies: readonly Shape[] = [...structures, ...values]
