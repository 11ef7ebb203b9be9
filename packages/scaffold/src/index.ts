export { runCreate } from './create.ts';
export { kindNames, type KindNames } from './names.ts';
export { addKind, addVersion, addWebhook, createProject, type NewProject } from './project.ts';
