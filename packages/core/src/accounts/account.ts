/** Who sends, and later who pays. */
export interface Account {
  readonly id: number
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly expiresAt: Date | null
  readonly createdAt: Date
}
