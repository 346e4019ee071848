/** What an entity says of the admin's screens, each fault with the sentence that says so. */
import { internal, text } from '#model/field.ts'
import { areTold, withField } from '../../../test/support/model-faults.ts'

areTold([
  [
    'a title that is not there',
    'admin.title of book names titel, which is not a field: did you mean title?',
    { admin: { title: 'titel' } },
  ],
  [
    'a title that is no text',
    'admin.title of book names createdAt, which is time: name a text',
    { admin: { title: 'createdAt' } },
  ],
  [
    'a column that REST does not show',
    'admin.columns of book names secret, which the REST API does not show: name one that it shows',
    {
      ...withField('secret', text({ max: 10, nullable: true, ...internal })),
      admin: { columns: ['title', 'secret'] },
    },
  ],
  [
    'an order that no list has',
    'admin.order of book names notes, by which rows cannot be ordered or grouped: name another field',
    {
      ...withField('notes', text({ max: 3000, nullable: true })),
      admin: { order: '-notes' },
    },
  ],
  [
    'a field of a screen that is not there',
    'admin.fields of book names autorId, which is not a field: did you mean authorId?',
    { admin: { fields: { autorId: { label: 'Author' } } } },
  ],
  [
    'a hidden field that a new row needs',
    'admin.fields of book hides title, which a new row needs: give it an initial value, or show it',
    { admin: { fields: { title: { hidden: true } } } },
  ],
  [
    'a chart that adds up texts',
    'admin.charts of book adds up title, which is text: name one that is int, money, decimal',
    { admin: { charts: [{ group: 'genre', sum: 'title' }] } },
  ],
  [
    'a chart of what is not there',
    'admin.charts of book names sold, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { admin: { charts: [{ group: 'sold' }] } },
  ],
])
