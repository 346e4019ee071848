/** Made-up authors and books of any number. */
import type { Seed } from 'duet'
import { fold } from 'duet/commands'

export const seed: Seed = {
  sizes: { authors: 20, books: 100 },
  about: 'Every fifth book has no number of pages.',
  check: ({ authors = 0, books = 0 }) =>
    books > 0 && authors === 0 ? '--books needs --authors above 0' : undefined,
  fill: async (put, { authors = 0, books = 0 }) => {
    await put('author', authors, index => ({ name: `Author ${index + 1}` }))
    await put('book', books, index => {
      const title = `Book ${index + 1}`
      return {
        title,
        titleKey: fold(title),
        isbn: String(9_780_000_000_000 + index),
        authorId: 1 + (index % authors),
        pages: index % 5 === 0 ? null : index + 1,
      }
    })
  },
}
