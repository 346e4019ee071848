/** What a file is taken for, by content, name and declared type together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headBytes } from '#files/store.ts'
import { typeAmong } from '#files/take.ts'
import { safeName, typeOf } from '#files/type.ts'

const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const png = latin(
  '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82',
)
const jpeg = latin('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0')
const gif = (more = '') => latin(`GIF89a\x01\0\x01\0\x80\0\0${more}`)
const pdf = (more = '') => latin(`%PDF-1.7\n%\xe2\xe3\xcf\xd3\n${more}`)
const zip = latin('PK\x03\x04\x14\0\0\0\x08\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.bin')

const taken: Readonly<
  Record<string, readonly [head: Uint8Array, name: string, type: string, declared?: string]>
> = {
  'a PNG': [png, 'dot.png', 'image/png', 'image/png'],
  'a PNG without a name that says so': [png, 'dot', 'image/png'],
  'what curl -T sends': [png, 'dot.PNG', 'image/png', 'application/octet-stream'],
  'a JPEG under an old name of its type': [jpeg, 'a.jpeg', 'image/jpeg', 'image/jpg'],
  'a GIF': [gif(), 'a.gif', 'image/gif', 'image/gif; x=y'],
  'a PDF': [pdf(), 'cv.pdf', 'application/pdf', 'application/pdf'],
  'a ZIP archive': [zip, 'a.zip', 'application/zip', 'application/x-zip-compressed'],
  'a Word document, which is an archive': [
    zip,
    'a.docx',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  text: [latin('hello'), 'a.txt', 'text/plain', 'text/plain; charset=utf-8'],
  'text that begins as a picture does': [latin('BMW,1\nGIF,2\n'), 'a.csv', 'text/csv'],
  'text that begins as a solid does': [latin('solid growth '.repeat(9)), 'a.txt', 'text/plain'],
  'text without a name that says so': [latin('hello'), 'README', 'text/plain'],
  nothing: [latin(''), 'a.txt', 'text/plain'],
  JSON: [latin('{"a":1}'), 'a.json', 'application/json', 'application/json'],
  'Markdown that begins with HTML': [
    latin('<p align="center">Hi</p>'),
    'README.md',
    'text/markdown',
  ],
  'a page': [latin('<!doctype html><p>'), 'a.html', 'text/html', 'text/html'],
  'a drawing': [
    latin('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
    'a.svg',
    'image/svg+xml',
    'image/svg+xml',
  ],
  XML: [latin('<?xml version="1.0"?><feed/>'), 'a.xml', 'application/xml', 'text/xml'],
  'text cut in a character': [
    new TextEncoder().encode(`${'x'.repeat(headBytes - 1)}ä`).subarray(0, headBytes),
    'a.txt',
    'text/plain',
  ],
  'text with other bytes behind its head, however many come at once,': [
    Buffer.concat([latin('x'.repeat(headBytes)), latin('\0\xff')]),
    'a.txt',
    'text/plain',
  ],
  'a PDF with an ending that every object has': [pdf(), 'cv.constructor', 'application/pdf'],
  'bytes of no known type': [latin('\0\x01\x02\x03\xff\xfe'), 'a.dump', 'application/octet-stream'],
}

for (const [what, [head, name, type, declared]] of Object.entries(taken))
  test(`${what} is ${type}`, async () => {
    assert.equal(await typeOf(head, name, declared), type)
  })

test('bytes whose type has several names have the one that is taken', async () => {
  const sound = latin('\0\0\0\x20ftypM4A \0\0\0\0')
  assert.equal(await typeAmong(sound, ['image/png', 'audio/mp4']), 'audio/mp4')
  await assert.rejects(typeAmong(sound, ['image/png']), /must be image\/png, and is video\/mp4$/)
})

const refusals: Readonly<
  Record<string, readonly [head: Uint8Array, name: string, message: RegExp, declared?: string]>
> = {
  'a type that can stand in no header': [
    latin('\0\x01\x02'),
    'a',
    /^The file has a Content-Type that is no media type: send one such as image\/png$/,
    'image/\u0142',
  ],
  'a page named as a picture': [
    latin('<!doctype html><p>'),
    'a.png',
    /^The file is image\/png by its name, "a.png", and text\/html by its content: /,
    'image/png',
  ],
  'a page named as text': [latin('  <HTML><script>'), 'a.txt', /text\/plain by its name/],
  'a GIF that is a page too': [
    gif('<script>alert(1)</script>'),
    'a.gif',
    /is image\/gif and a page at once: /,
    'image/gif',
  ],
  'a PDF that is an archive too': [
    pdf('PK\x03\x04'),
    'a.pdf',
    /is application\/pdf and a ZIP archive at once/,
  ],
  'an archive that is a PDF too': [
    Buffer.concat([zip, latin('%PDF-1.4')]),
    'a.zip',
    /is application\/zip and a PDF at once/,
  ],
  'a PNG sent as a page': [
    png,
    'a',
    /text\/html by its Content-Type and image\/png by its content/,
    'text/html',
  ],
  'bytes called text': [latin('\0\x01\x02\xff'), 'a.txt', /of no known type by its content/],
  'text of two names': [
    latin('a,b'),
    'a.csv',
    /is text\/csv by its name and application\/json by its Content-Type/,
    'application/json',
  ],
}

for (const [what, [head, name, message, declared]] of Object.entries(refusals))
  test(`${what} is refused`, () =>
    assert.rejects(typeOf(head, name, declared), { code: 'UNSUPPORTED_MEDIA_TYPE', message }))

const names: readonly (readonly [string, string])[] = [
  ['../../etc/passwd', 'passwd'],
  ['C:\\files\\cv.pdf', 'cv.pdf'],
  ['a\0b\r\n.txt', 'ab.txt'],
  ['invoice\u202efdp.exe', 'invoicefdp.exe'],
  ['..', 'file'],
  ['   ', 'file'],
  ['say "hi".txt', 'say "hi".txt'],
  ['Zażółć 🙂.txt', 'Zażółć 🙂.txt'],
  ['می\u200cخواهم 👩\u200d💻.txt', 'می\u200cخواهم 👩\u200d💻.txt'],
  [`${'n'.repeat(300)}.pdf`, `${'n'.repeat(196)}.pdf`],
  [`${'🙂'.repeat(300)}`, '🙂'.repeat(200)],
  ['\ud800.txt', '.txt'],
]

for (const [given, name] of names)
  test(`${JSON.stringify(given).slice(0, 40)} is kept as a name without what misleads`, () => {
    assert.equal(safeName(given), name)
  })
