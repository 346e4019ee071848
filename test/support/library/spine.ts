/** The text for the spine of a book. */
import { after } from '#base/after.ts'
import { notFound } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { pathId, represent } from '#rest/represent.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { sql, statement } from '#sql/sql.ts'

export const spine: ExtraRoute = {
  method: 'GET',
  path: '/books/:id/spine',
  described: {
    rule: anyone,
    operationId: 'getBookSpine',
    summary: 'Get the text for the spine of a book',
    forms: { 'text/plain': { schema: { type: 'string' }, example: '3 Moominsummer Madness' } },
  },
  last: 1,
  sunset: '2027-08-01',
  serve:
    ({ core, edge }) =>
    (c, _viewer, named) => {
      const id = pathId(c, 'id', 'book')
      const text = sql`select title, shelf from books where id = ${id}`
      const { text: query } = statement(text, core.dialect.placeholder)
      return after(core.reader.query({ text: query, values: [id] }), ([row]) => {
        if (!row) throw notFound('book', id)
        const facts = { named, isPublic: true, type: 'text/plain; charset=utf-8' }
        return represent(c, edge, `${row[1]} ${row[0]}\n`, facts)
      })
    },
}
