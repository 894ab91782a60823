/** Due time of work that waits for an explicit decision. Not `infinity`, which a Date cannot represent. */
export const NEVER = '9999-12-31T00:00:00Z'
