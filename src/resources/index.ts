/** The one list of what the service serves. Adding a resource is a folder and a line here. */
import { defineModel, type Model, type Settings } from '#model/model.ts'
import { comment } from '#resources/comment/entity.ts'
import { customer } from '#resources/customer/entity.ts'
import { likeActions } from '#resources/like/actions.ts'
import { like } from '#resources/like/entity.ts'
import { orderActions } from '#resources/order/actions.ts'
import { order, orderEvent, orderItem } from '#resources/order/entity.ts'
import { post } from '#resources/post/entity.ts'
import { product } from '#resources/product/entity.ts'
import { userActions } from '#resources/user/actions.ts'
import { avatar, avatarActions } from '#resources/user/avatar.ts'
import { user } from '#resources/user/entity.ts'
import type { Action } from '#write/action.ts'

export const entities = defineModel({
  user,
  post,
  comment,
  like,
  product,
  customer,
  order,
  orderItem,
  orderEvent,
  avatar,
})

/** What can be done beside plain writes. */
export const actions: readonly Action[] = [
  ...likeActions,
  ...orderActions,
  ...avatarActions,
  ...userActions,
]

/** The model with an operator's settings. A token speaks for a user; a suspended one may read and not write. */
export const contentModel = (settings: Settings): Model => ({
  entities,
  viewers: {
    entity: 'user',
    barred: { field: 'status', value: 'suspended' },
    asked: ['name', 'email'],
  },
  settings,
})
