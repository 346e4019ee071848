/** Two small OpenAPI documents of the usual content, in the way of a test that needs any. */

const bearer = { bearer: [] }

const text = { type: 'string' }
const user = (timestamp: string) => ({
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', examples: [7] },
    name: { ...text, minLength: 1, maxLength: 200, description: 'The name as it is shown.' },
    email: { ...text, format: 'email' },
    age: { type: ['integer', 'null'], minimum: 0, maximum: 150 },
    [timestamp]: { ...text, format: 'date-time', readOnly: true },
  },
})

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const reference = { $ref: '#/components/schemas/User' }
const id = { name: 'userId', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }

/** The document of a version. */
export const documentOf = (version: 1 | 2) => ({
  openapi: '3.1.1',
  info: {
    title: 'Duet',
    version: String(version),
    description: 'Users, posts and **products**, as `JSON`.',
  },
  servers: [{ url: `/api/v${version}` }],
  tags: [{ name: 'users', description: 'People who write.' }, { name: 'products' }],
  paths: {
    '/users': {
      get: {
        operationId: 'listUsers',
        summary: 'List users',
        tags: ['users'],
        security: [bearer],
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', default: 10, maximum: 100 } },
          {
            name: 'role',
            in: 'query',
            description: 'Only users of this role.',
            schema: { type: 'string', enum: ['user', 'admin'] },
          },
        ],
        responses: {
          200: { description: 'A page of users.', ...json({ type: 'array', items: reference }) },
          401: { description: 'A token is needed.' },
        },
      },
      post: {
        operationId: 'createUser',
        summary: 'Create a user',
        tags: ['users'],
        requestBody: { required: true, ...json(reference) },
        responses: { 201: { description: 'The user.', ...json(reference) } },
      },
    },
    '/users/{userId}': {
      get: {
        operationId: 'readUser',
        summary: 'Read a user',
        description: 'Also one’s own. See [errors](/docs/errors).',
        tags: ['users'],
        security: [bearer],
        parameters: [id],
        responses: {
          200: { description: 'The user.', ...json(reference) },
          404: { description: 'There is no such user.' },
        },
      },
      put: {
        operationId: 'replaceUser',
        summary: 'Replace a user',
        tags: ['users'],
        security: [bearer],
        parameters: [id],
        requestBody: { required: true, ...json(reference) },
        responses: { 200: { description: 'The user.', ...json(reference) } },
      },
      patch: {
        operationId: 'updateUser',
        summary: 'Update a user',
        tags: ['users'],
        security: [bearer],
        parameters: [id],
        requestBody: { required: true, ...json(reference) },
        responses: { 200: { description: 'The user.', ...json(reference) } },
      },
      delete: {
        operationId: 'deleteUser',
        summary: 'Delete a user',
        deprecated: true,
        tags: ['users'],
        security: [bearer],
        parameters: [id],
        responses: { 204: { description: 'It is gone.' } },
      },
    },
    '/products': {
      get: {
        operationId: 'listProducts',
        summary: 'List products',
        tags: ['products'],
        responses: { 200: { description: 'A page of products.', ...json({ type: 'object' }) } },
      },
    },
  },
  components: {
    schemas: { User: user(version === 1 ? 'created_at' : 'createdAt') },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    },
  },
})
