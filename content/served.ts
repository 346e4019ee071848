/** What only a service needs: the routes that the model does not derive, and the pages. */

import type { Served } from 'duet'
import { receiptRead } from './order/receipt/read.ts'
import { reportGenerate } from './reports/report.ts'
import { avatarRead } from './user/avatar/read.ts'
import { verifyPage } from './user/verify-email/page.ts'

export const served: Served = {
  routes: [avatarRead, receiptRead, reportGenerate],
  pages: [verifyPage],
}
