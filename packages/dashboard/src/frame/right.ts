import type { PeopleRight, Scope } from '@postrider/core'

/** A right that a page needs: a scope of keys, or one of people. The table of core/people says which role has which. */
export type Right = Exclude<Scope, 'all'> | PeopleRight
