/** Files that are imported: what is made of them, and how each fault is named. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import content from '#content/duet.config.ts'
import { startService } from '#serve/temporary.ts'
import { command } from '#test/commands.ts'
import { folderOf, type Settings } from '#test/duet.ts'
import { sqliteTest as it } from '#test/stores.ts'
import { filesIn } from '#test/support/transfer-files.ts'

const { folder, freshStore } = folderOf('import')

const { fileOf } = filesIn(folder)

const users = [
  { id: 7, name: 'Ann', email: 'ann@example.org' },
  {
    id: 3,
    name: 'Bob',
    email: 'bob@example.org',
    age: 40,
    role: 'admin',
    createdAt: '2020-01-02T03:04:05.678Z',
  },
]

type Thing = Readonly<Record<string, unknown>>

/** The lines of standard error that name a fault, without the file's name. */
const faults = (stderr: string, path: string) =>
  stderr
    .split('\n')
    .filter(line => line.startsWith(`${path}:`))
    .map(line => line.slice(path.length + 1))

const importing = (settings: Settings, kind: string, path: string, ...more: readonly string[]) =>
  command(['import', kind, path, ...more], settings)

test('users, posts, comments and products are imported with their ids and times, and both APIs show the same', async () => {
  const { settings } = await freshStore()
  const steps = [
    ['users', fileOf(users)],
    [
      'posts',
      fileOf([
        { id: 20, authorId: 7, title: 'T', content: 'C', createdAt: '2021-01-01T00:00:00.000Z' },
      ]),
    ],
    ['comments', fileOf('id,postId,authorId,text\n5,20,3,"a, ""b""\nand c"\n', 'csv')],
    [
      'products',
      fileOf(
        'id,name,category,price,stock,image,created_at\n9,Lamp,light,19.99,4,,2019-05-06T07:08:09.100Z\n',
        'csv',
      ),
    ],
  ] as const
  for (const [kind, path] of steps) {
    const { code, stdout, stderr } = await importing(settings, kind, path)
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`^imported \\d ${kind}\\n$`))
  }
  const service = await startService(content, { settings })
  const { stdout: token } = await command(['token', '--user', '3', '--role', 'admin'], settings)
  const headers = { Authorization: `Bearer ${token.trim()}`, 'Content-Type': 'application/json' }
  const get = async <Shape = Thing>(path: string) =>
    (await (await fetch(`${service.url}${path}`, { headers })).json()) as Shape
  const graphql = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      query: '{ user(id: "7") { name posts { id title comments { text author { name } } } } }',
    }),
  })
  assert.deepEqual(await graphql.json(), {
    data: {
      user: {
        name: 'Ann',
        posts: [
          { id: '20', title: 'T', comments: [{ text: 'a, "b"\nand c', author: { name: 'Bob' } }] },
        ],
      },
    },
  })
  const posts = await get<{ data: Thing[] }>('/api/posts')
  assert.deepEqual(
    posts.data.map(({ id, authorId, createdAt }) => [id, authorId, createdAt]),
    [[20, 7, '2021-01-01T00:00:00.000Z']],
  )
  const bob = await get('/api/users/3')
  assert.deepEqual([bob.age, bob.role, bob.createdAt], [40, 'admin', '2020-01-02T03:04:05.678Z'])
  const lamp = await get('/api/products/9')
  assert.deepEqual(
    [lamp.price, lamp.stock, lamp.image, lamp.created_at],
    [19.99, 4, null, '2019-05-06T07:08:09.100Z'],
  )
  // A later id is above every imported one.
  const made = await fetch(`${service.url}/api/users`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'New', email: 'new@example.org' }),
  })
  assert.equal(((await made.json()) as Thing).id, 8)
  await service.stop()
})

test('one bad row and nothing is imported; each fault is named by its line and member', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf(
    [
      '{"id":1,"name":"Good","email":"good@example.org"}',
      '{"id":2,"name":"","email":"nobody","age":-1}',
      '',
      'not json',
      '[1,2]',
      '{"id":1,"name":"Twice","email":"twice@example.org"}',
      '{"id":4,"name":"Taken","email":"GOOD@example.org"}',
      '{"id":0,"name":"Zero","email":"zero@example.org"}',
      '{"id":9007199254740992,"name":"Big","email":"big@example.org"}',
      '{"id":5,"name":"More","email":"more@example.org","nickname":"m"}',
      '{"id":6,"name":"Late","email":"late@example.org","createdAt":"yesterday"}',
      '{"id":7}',
      '{"id":8,"name":"One","email":"two@example.org","n\\u0061me":"Two"}',
    ].join('\n'),
  )
  const { code, stdout, stderr } = await importing(settings, 'users', path)
  assert.deepEqual([code, stdout], [1, ''])
  const told = faults(stderr, path)
  const expected = [
    /^2: name must be 1 to 200 characters$/,
    /^2: email must be an email address$/,
    /^2: age must be a whole number from 0 to 150$/,
    /^4: the row is not JSON: /,
    /^5: is not a JSON object$/,
    /^6: id is in use already$/,
    /^7: email is in use already$/,
    /^8: id must be a whole number from 1 to 9007199254740991$/,
    /^9: id must be/,
    /^10: nickname is not a member of a user$/,
    /^11: createdAt must be an ISO 8601 time/,
    /^12: name is required$/,
    /^12: email is required$/,
    /^13: The member "name" is given twice$/,
  ]
  assert.equal(told.length, expected.length, told.join('\n'))
  for (const [index, pattern] of expected.entries()) assert.match(told[index] ?? '', pattern)
  assert.match(
    stderr,
    /\nduet: nothing was imported: .* has 14 faults; correct them, or leave those rows out with --skip-bad\n$/,
  )
  const kept = await rows('select count(*), (select sum(n) from counts) from users')
  assert.deepEqual(kept, [[0, null]])
})

test('with --skip-bad the bad rows are left out and reported, and the rest is imported', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf([
    users[0] as object,
    { id: 8, name: 'X', email: 'x', age: 'old' },
    users[1] as object,
  ])
  const { code, stdout, stderr } = await importing(settings, 'users', path, '--skip-bad')
  assert.deepEqual([code, stdout], [0, 'imported 2 users, left out 1\n'])
  assert.equal(faults(stderr, path).length, 2)
  assert.deepEqual(await rows('select id from users order by id'), [[3], [7]])
  assert.deepEqual(await rows("select cast(sum(n) as bigint) from counts where field = ''"), [[2]])
})

it('no more than twenty faults are shown, and the rest is counted', async () => {
  const { settings } = await freshStore()
  const path = fileOf(
    Array.from({ length: 30 }, (_, id) => ({ id: id + 1, name: 'A', email: 'x' })),
  )
  const { stderr } = await importing(settings, 'users', path)
  assert.equal(faults(stderr, path).length, 20)
  assert.match(stderr, /\n… and 10 more faults\n/)
})

test('what a row refers to must be there', async () => {
  const { rows, settings } = await freshStore()
  await importing(settings, 'users', fileOf(users))
  const path = fileOf([
    { id: 1, authorId: 3, title: 'A', content: 'a' },
    { id: 2, authorId: 99, title: 'B', content: 'b' },
    { id: 3, title: 'C', content: 'c' },
  ])
  const { code, stderr } = await importing(settings, 'posts', path)
  assert.equal(code, 1)
  assert.deepEqual(faults(stderr, path), [
    '2: authorId names user 99, which does not exist',
    '3: authorId is required',
  ])
  assert.deepEqual(await rows('select count(*) from posts'), [[0]])
})

test('a row that is imported twice is refused the second time, and changes nothing', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf(users)
  assert.equal((await importing(settings, 'users', path)).code, 0)
  const before = await rows('select * from users order by id')
  const { stderr } = await importing(settings, 'users', path)
  assert.deepEqual(faults(stderr, path), ['1: id is in use already', '2: id is in use already'])
  assert.deepEqual(await rows('select * from users order by id'), before)
})

it('CSV: quotes, commas, line ends of two kinds and a byte order mark are read as what they are', async () => {
  const { rows, settings } = await freshStore()
  const lines = [
    '\ufeffname,category,price,image',
    '"Lamp, ""large""",light,1.5,https://images.example.org/a.jpg',
    '',
    '"Two\r\nlines",light,2,',
    'café ☕,light,0.01,',
  ]
  const path = fileOf(lines.join('\r\n'), 'csv')
  assert.equal((await importing(settings, 'products', path)).stdout, 'imported 3 products\n')
  assert.deepEqual(
    await rows('select id, name, price, image, name_key from products order by id'),
    [
      [1, 'Lamp, "large"', 150, 'https://images.example.org/a.jpg', 'lamp, "large"'],
      [2, 'Two\r\nlines', 200, null, 'two\r\nlines'],
      [3, 'café ☕', 1, null, 'café ☕'],
    ],
  )
})

it('CSV: a fault is named by the line on which its row begins, whatever the rows above hold', async () => {
  const { settings } = await freshStore()
  for (const end of ['\n', '\r\n']) {
    const rows = [
      'name,category,price',
      `"a${end}b",c,1`,
      '',
      'd,e',
      'f,g,1,2',
      'h,i,1.999',
      `"j${end}k",l,-1`,
    ]
    const path = fileOf(rows.join(end), 'csv')
    assert.deepEqual(faults((await importing(settings, 'products', path)).stderr, path), [
      '5: has 2 values, the header names 3',
      '6: has 4 values, the header names 3',
      '7: price must have at most 2 decimals, as USD has',
      '8: price must be a number from 0 to 999999999.99',
    ])
  }
})

it('CSV: rows of the wrong length are left out with --skip-bad, and those after them are kept', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf('name,category,price\na,b,1\nc,d\ne,f,2\n', 'csv')
  assert.equal(
    (await importing(settings, 'products', path, '--skip-bad')).stdout,
    'imported 2 products, left out 1\n',
  )
  assert.deepEqual(await rows('select name from products order by id'), [['a'], ['e']])
})

it('what cannot be read to its end is not imported at all, even with --skip-bad', async () => {
  const { rows, settings } = await freshStore()
  const cases = [
    [
      'csv',
      'name,category,price\na,b,1\n"c"d,e,1\nf,g,1\n',
      /:3: is not CSV, so the rest cannot be read/,
    ],
    ['csv', 'name,category,price\na,b,1\n"c,d,1\n', /: is not CSV, so the rest cannot be read/],
    ['csv', 'name,category,name\na,b,c\n', /the header names name twice/],
    ['csv', Buffer.from('name,category,price\nB\xfcro,b,1\n', 'latin1'), /is not UTF-8/],
    [
      'ndjson',
      Buffer.from('{"name":"B\xfcro","category":"b","price":1}\n', 'latin1'),
      /is not UTF-8/,
    ],
  ] as const
  for (const [ending, content, message] of cases) {
    const { code, stderr, stdout } = await importing(
      settings,
      'products',
      fileOf(content, ending),
      '--skip-bad',
    )
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr.split('\n').at(-2) ?? '', message)
  }
  assert.deepEqual(await rows('select count(*) from products'), [[0]])
})

it('NDJSON: a byte order mark, line ends of Windows and a missing last one are no fault', async () => {
  const { settings } = await freshStore()
  const path = fileOf(`\ufeff${users.map(user => JSON.stringify(user)).join('\r\n')}`)
  assert.equal((await importing(settings, 'users', path)).stdout, 'imported 2 users\n')
})

test('a store takes an import while it is served, and the service shows the rows [A11]', async () => {
  const { settings } = await freshStore()
  const service = await startService(content, { settings })
  const path = fileOf([{ id: 500, name: 'Imported', category: 'c', price: 5 }])
  assert.equal((await importing(settings, 'products', path)).code, 0)
  const response = await fetch(`${service.url}/api/products/500`)
  assert.equal(((await response.json()) as Thing).name, 'Imported')
  await service.stop()
})
