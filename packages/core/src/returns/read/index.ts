export { readReturn } from './read-return.ts'
export type {
  Action,
  BounceReading,
  ComplaintReading,
  FeedbackType,
  Marks,
  ReportedRecipient,
  ReturnReading,
} from './return-reading.ts'
