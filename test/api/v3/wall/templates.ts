import type { Caller, Input, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeTemplate({ act }: Setting, owner: Caller) {
  const name = `wall template ${++made}`
  const { id: template_id } = (await act(owner, 'createTemplate', { body: { name } })) as { id: string }
  const version = { name: 'v', subject: 's', html_content: '<p>owned</p>' }
  const { id: version_id } = (await act(owner, 'addTemplateVersion', {
    params: { template_id },
    body: version,
  })) as { id: string }
  return { name, params: { template_id, version_id } }
}

const NONE = '00000000-0000-4000-8000-000000000000'

function ofTemplate(extra: Input = {}): WallEntry {
  return {
    kind: 'object',
    make: async (setting, owner) => ({ ...extra, params: (await makeTemplate(setting, owner)).params }),
    missing: { params: { template_id: NONE, version_id: NONE } },
    seen: ({ params }) => ['viewTemplate', { params: params ?? {} }],
  }
}

export const templates: Wall = {
  createTemplate: { kind: 'own', input: { body: { name: 'made by a stranger' } }, seen: ['listTemplates', {}] },
  listTemplates: { kind: 'list', make: async (setting, owner) => (await makeTemplate(setting, owner)).name },
  viewTemplate: ofTemplate(),
  renameTemplate: ofTemplate({ body: { name: 'taken over' } }),
  duplicateTemplate: ofTemplate({ body: { name: 'copied' } }),
  addTemplateVersion: ofTemplate({ body: { name: 'v2', subject: 'taken over' } }),
  editTemplateVersion: ofTemplate({ body: { subject: 'taken over' } }),
}
