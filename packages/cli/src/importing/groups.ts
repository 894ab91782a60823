import type { CountedGroup } from '@postrider/core'
import { apply, differs, type Move, refuse } from './move.ts'
import { readGroups, type SourceGroup } from './reading.ts'

/** Imports the unsubscribe groups with their ids, which messages and unsubscribe links refer to. */
export async function moveGroups(move: Move): Promise<void> {
  const { core, accountId, source, progress } = move
  const groups = await readGroups(source, (place, problem) => refuse(move, 'groups', place, problem))
  const here = new Map((await core.groups.list(accountId)).map((group) => [group.id, group]))
  for (const [at, group] of groups.entries()) {
    progress.show('groups', at + 1, groups.length)
    await moveGroup(move, here, group)
  }
}

async function moveGroup(move: Move, here: Map<number, CountedGroup>, group: SourceGroup): Promise<void> {
  const { core, accountId, overwrite, tally } = move
  const { id } = group
  const [name, description] = [group.name.trim(), group.description.trim()]
  const there = here.get(id)
  if (there?.name === name && there.description === description && there.isDefault === group.isDefault) {
    tally.counts.groups.there++
  } else if (there && !overwrite) {
    differs(
      move,
      'groups',
      `group ${id} has another name or description: "${there.name}" in Postrider, "${name}" at the source`,
    )
  } else if (there) {
    const change = { name, description, isDefault: group.isDefault }
    await apply(move, 'groups', 'overwritten', `group ${id}`, () => core.groups.change({ accountId, id }, change))
  } else {
    const other = group.isDefault && !overwrite ? [...here.values()].find(({ isDefault }) => isDefault) : undefined
    const isDefault = group.isDefault && !other
    const added = await apply(move, 'groups', 'added', `group ${id} "${name}"`, () =>
      core.groups.create(accountId, { id, name, description, isDefault }),
    )
    if (added && other)
      differs(
        move,
        'groups',
        `group ${id} is the default at the source; group ${other.id} remains the default in Postrider`,
      )
    if (added) here.set(id, { id, name, description, isDefault, unsubscribes: 0 })
  }
}
