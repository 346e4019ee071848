/** Demo content for an empty development store: enough to try everything. */
import type { RowsByEntity } from 'duet'

export const demo: RowsByEntity = {
  user: [
    { name: 'Ada Okafor', email: 'ada@example.org', age: 36, role: 'admin', emailVerified: true },
    { name: 'Ben Lindt', email: 'ben@example.org', age: 28, emailVerified: true },
    { name: 'Chloé Moreau', email: 'chloe@example.org' },
    { name: '松本 花', email: 'hana@example.org', age: 41 },
  ],
  post: [
    {
      authorId: 1,
      title: 'Two voices, one store',
      content:
        'Whatever you write through REST is there for GraphQL at once, and the other way round. Try it: the ids are the same.',
    },
    {
      authorId: 1,
      title: 'Why our lists end with the id',
      content:
        'Two products at one price need a rule for who comes first, or a page repeats one and skips the other.',
    },
    {
      authorId: 2,
      title: 'A week with one statement per query',
      content:
        'Ten users, their posts, the comments and who wrote them: our dashboard used to send two hundred requests for that.',
    },
    {
      authorId: 2,
      title: 'Notes on the harbour walk',
      content: 'Six kilometres, two bakeries, and a bench with a view of the lighthouse.',
    },
    {
      authorId: 3,
      title: 'Café, crème, croissant',
      content: 'Accents count when you search here, upper and lower case do not.',
    },
    { authorId: 4, title: '春の手紙', content: '桜が咲きました。' },
  ],
  comment: [
    {
      postId: 1,
      authorId: 2,
      text: 'I made a user with curl and saw it in GraphiQL a second later.',
    },
    { postId: 1, authorId: 3, text: 'And the ETag changes too.' },
    { postId: 2, authorId: 4, text: 'We learned that the hard way.' },
    { postId: 3, authorId: 1, text: 'How long does it take now?' },
    { postId: 3, authorId: 2, text: 'As long as a plain read of the same rows.' },
    { postId: 4, authorId: 3, text: 'Which bakery was the better one?' },
    { postId: 5, authorId: 1, text: 'I looked for cafe and found nothing. Now I know why.' },
    { postId: 6, authorId: 2, text: 'きれいですね。' },
  ],
  like: [
    { userId: 1, commentId: 1 },
    { userId: 3, commentId: 1 },
    { userId: 2, commentId: 4 },
    { userId: 4, commentId: 7 },
  ],
  product: [
    { name: 'Oak desk lamp', category: 'lighting', price: 79.9, stock: 12 },
    { name: 'Paper lantern', category: 'lighting', price: 14.5, stock: 0 },
    { name: 'Linen notebook', category: 'office', price: 9.95, stock: 230 },
    { name: 'Copper teapot', category: 'kitchen', price: 119, stock: 4 },
    { name: 'Café crème bowl', category: 'kitchen', price: 18.25, stock: 31 },
    {
      name: 'Wool blanket',
      category: 'textiles',
      price: 64,
      stock: 9,
      image: 'https://images.example.org/blanket.jpg',
    },
  ],
}
