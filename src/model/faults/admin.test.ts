/** What an entity says of the admin's screens, each fault with the sentence that says so. */
import { internal, text } from '#model/field.ts'
import { areTold, withFields } from '../../../test/support/model-faults.ts'

areTold({
  'admin.title of book names titel, which is not a field: did you mean title?': {
    admin: { title: 'titel' },
  },
  'admin.title of book names createdAt, which is time: name a text': {
    admin: { title: 'createdAt' },
  },
  'admin.columns of book names secret, which the REST API does not show: name one that it shows': {
    ...withFields({ secret: text({ max: 10, nullable: true, ...internal }) }),
    admin: { columns: ['title', 'secret'] },
  },
  'admin.order of book names notes, by which rows cannot be ordered or grouped: name another field':
    {
      ...withFields({ notes: text({ max: 3000, nullable: true }) }),
      admin: { order: '-notes' },
    },
  'admin.fields of book names autorId, which is not a field: did you mean authorId?': {
    admin: { fields: { autorId: { label: 'Author' } } },
  },
  'admin.fields of book hides title, which a new row needs: give it an initial value, or show it': {
    admin: { fields: { title: { hidden: true } } },
  },
  'admin.charts of book adds up title, which is text: name one that is int, money, decimal': {
    admin: { charts: [{ group: 'genre', sum: 'title' }] },
  },
  'admin.charts of book names sold, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { admin: { charts: [{ group: 'sold' }] } },
})
