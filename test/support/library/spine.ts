/** The text for the spine of a book. */

import { notFound, sql } from 'duet/actions'
import { anyone } from 'duet/model'
import { type ExtraRoute, pathId, queryOf, represent } from 'duet/routes'

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
    async (c, _viewer, named) => {
      const id = pathId(c, 'id', 'book')
      const text = sql`select title, shelf from books where id = ${id}`
      const [row] = await core.reader.query(queryOf(text, core.dialect))
      if (!row) throw notFound('book', id)
      const facts = { named, isPublic: true, type: 'text/plain; charset=utf-8' }
      return represent(c, edge, `${row[1]} ${row[0]}\n`, facts)
    },
}
