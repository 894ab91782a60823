export type { CallOptions, FileBody, PostriderOptions, RenderReact } from './call.ts'
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  PostriderError,
  RateLimitError,
  ServiceError,
} from './errors.ts'
export type { FeedEvent, FeedOptions, FeedPosition } from './feed.ts'
export { Postrider } from './postrider.ts'
export type { Address, Mail, MailAttachment, Recipient, SentMail, TemplateAttributes, TemplateId } from './send.ts'
export { verifyWebhook, WebhookError, type WebhookRequest } from './webhooks.ts'
