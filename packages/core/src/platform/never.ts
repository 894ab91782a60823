/** When what waits for somebody's word is due. Not `infinity`, which no Date can hold. */
export const NEVER = '9999-12-31T00:00:00Z'
