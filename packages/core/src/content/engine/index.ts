export type { TemplateName } from './names.ts'
export { createDynamicRenderer, type DynamicRenderer, type RendererOptions, type TemplateData } from './renderer.ts'
export {
  type CheckedTemplate,
  checkDynamic,
  type DynamicTemplate,
  type Rendered,
  type RenderFailure,
  type TemplatePart,
} from './template.ts'
export { escapeHtml } from './values.ts'
