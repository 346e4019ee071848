/** Finds in a store what is worth asking for: things that exist, and the page of users with the most below them. */

const perPage = 10
export const perUser = 5
export const perPost = 4

/** `offset` is the page's place among all users, `fewOffset` among those that are shown. */
export function factsOf(db) {
  const all = (sql, ...values) => db.prepare(sql).all(...values)
  const middle = table =>
    all(`select id from ${table} order by id limit 1 offset (select count(*) / 2 from ${table})`)[0]
      .id
  const some = table =>
    all(`select id from ${table} order by id * 7919 % 10007, id limit 500`).map(({ id }) => id)
  const { category, count: inCategory } = all(
    'select category, count(*) as count from products group by category order by count desc, category',
  )[0]
  const { offset, users } = fullestPage(all)
  const posts = newest(all, 'posts', 'author_id', users, perUser)
  const comments = newest(all, 'comments', 'post_id', posts, perPost)
  const authors = all(
    'select distinct author_id as id from comments where id in (select value from json_each(?))',
    JSON.stringify(comments),
  ).map(row => row.id)
  return {
    userId: middle('users'),
    productId: middle('products'),
    someUsers: some('users'),
    someProducts: some('products'),
    category,
    inCategory,
    offset,
    fewOffset: new Set(authors.filter(id => id < users[0])).size,
    shown: { users, posts, comments, authors },
  }
}

function newest(all, table, parent, ids, limit) {
  const sql = `
    select id from (
      select id, row_number() over (partition by ${parent} order by id desc) as place
      from ${table} where ${parent} in (select value from json_each(?))
    )
    where place <= ? order by id`
  return all(sql, JSON.stringify(ids), limit).map(row => row.id)
}

function fullestPage(all) {
  return fullest(
    all(`
    select users.id, coalesce(sum(1 + min(${perPost}, replies)), 0) as objects
    from users left join (
      select author_id, row_number() over (partition by author_id order by id desc) as place,
        (select count(*) from comments where post_id = posts.id) as replies
      from posts
    ) as latest on latest.author_id = users.id and place <= ${perUser}
    group by users.id order by users.id`),
  )
}

/** The first of the pages within a twentieth of the fullest, as a deep offset would measure skipping; users come by id. */
export function fullest(users) {
  const pages = users.slice(perPage - 1).map((_, offset) => {
    const page = users.slice(offset, offset + perPage)
    return {
      offset,
      users: page.map(user => user.id),
      objects: sum(page.map(user => user.objects)),
    }
  })
  const most = Math.max(...pages.map(page => page.objects))
  return pages.find(page => page.objects >= most * 0.95)
}

const sum = numbers => numbers.reduce((total, number) => total + number, 0)
