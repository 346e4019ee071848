/** Where things of each kind are made, and the bodies of usual ones. */
let emails = 0

/** By the name of the kind. */
export const makers: Record<string, { path: string; usual: () => Record<string, unknown> }> = {
  user: {
    path: '/api/users',
    usual: () => ({ name: 'n', email: `e${++emails}@example.com` }),
  },
  post: { path: '/api/users/2/posts', usual: () => ({ title: 't', content: 'c' }) },
  comment: { path: '/api/posts/1/comments', usual: () => ({ text: 't' }) },
  product: { path: '/api/products', usual: () => ({ name: 'n', category: 'c', price: 1 }) },
}
