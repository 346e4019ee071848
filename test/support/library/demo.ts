/** A few rows for an empty library. */
import type { RowsByEntity } from 'duet'

export const demo: RowsByEntity = {
  author: [
    { name: 'Homer', born: -800 },
    { name: 'Tove Jansson', born: 1914, biography: 'Painter, too.' },
    { name: '紫式部', teacherId: 1 },
  ],
  book: [
    { title: 'The Odyssey', isbn: '9780140268867', authorId: 1, pages: 541 },
    { title: 'Moominsummer Madness', isbn: '9780312608910', authorId: 2, shelf: 3 },
    { title: 'Genji', isbn: '9780142437148', authorId: 3, language: 'ja', lendable: false },
  ],
  subject: [{ word: 'journeys' }, { word: 'the sea' }],
  bookSubject: [
    { bookId: 1, subjectId: 1 },
    { bookId: 1, subjectId: 2 },
    { bookId: 2, subjectId: 2 },
  ],
  member: [
    { name: 'Ada', address: 'ada@example.org' },
    { name: 'Ben', address: 'ben@example.org' },
    { name: 'Cleo', address: 'cleo@example.org', standing: 'banned' },
  ],
  loan: [
    { bookId: 1, memberId: 2 },
    { bookId: 2, memberId: 2, note: 'for the journey' },
    { bookId: 2, memberId: 3 },
  ],
}
