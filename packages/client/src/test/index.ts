export {
  Inbox,
  type ListedMessage,
  type Mailbox,
  type MessageLink,
  NoMessageError,
  type ReceivedMessage,
  type WaitOptions,
  type Wanted,
} from './inbox.ts'
export { type RunningPostrider, type StartOptions, startPostrider } from './start.ts'
