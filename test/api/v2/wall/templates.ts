import type { Caller, Input, Setting, Wall } from './entry.ts'

const MISSING = { templateId: 999_999 }
let made = 0

/** A template of two versions. */
async function make({ act }: Setting, owner: Caller): Promise<Input> {
  const name = `wall_${++made}`
  const { templateId } = (await act(owner, 'createTemplate', { templateName: name, content: 'first' })) as {
    templateId: number
  }
  await act(owner, 'editTemplate', { templateId, content: `mark of ${name}` })
  return { templateId }
}

const seen = ({ templateId }: Input): readonly [string, Input] => ['viewTemplate', { templateId }]
const seenVersions = ({ templateId }: Input): readonly [string, Input] => ['listTemplateVersions', { templateId }]
const whole = { kind: 'object', make, missing: MISSING, seen } as const

export const templates: Wall = {
  createTemplate: {
    kind: 'own',
    // Each account has its own names.
    input: { templateName: 'wall_own', content: 'theirs' },
    seen: ['listTemplates', { limit: 100 }],
  },
  editTemplate: {
    ...whole,
    make: async (setting, owner) => ({ ...(await make(setting, owner)), templateName: 'taken', content: 'taken' }),
  },
  viewTemplate: whole,
  listTemplates: {
    kind: 'list',
    input: { limit: 100 },
    make: async (setting, owner) => {
      await make(setting, owner)
      return `wall_${made}`
    },
  },
  addTemplateVersion: {
    ...whole,
    seen: seenVersions,
    make: async (setting, owner) => ({ ...(await make(setting, owner)), content: 'another' }),
  },
}
