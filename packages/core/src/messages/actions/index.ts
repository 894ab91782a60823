export { type Cancellation, type CancelOrder, cancelMessage } from './cancel-message.ts'
export { type Rescheduled, type RescheduleOrder, rescheduleMessage } from './reschedule.ts'
export { NO_CONTENT, type ResendOrder, resendMessage } from './resend.ts'
export { type TryNowResult, tryNow } from './try-now.ts'
