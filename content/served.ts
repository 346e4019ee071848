/** What only a service needs: the routes that the model does not derive, and the pages. */
import { receiptRead } from '#content/order/receipt/read.ts'
import { reportGenerate } from '#content/reports/report.ts'
import { avatarRead } from '#content/user/avatar/read.ts'
import { verifyPage } from '#content/user/verify-email/page.ts'
import type { Served } from '#content.ts'

export const served: Served = {
  routes: [avatarRead, receiptRead, reportGenerate],
  pages: [verifyPage],
}
