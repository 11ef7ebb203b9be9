// Version 0 wrote the number of replicas as text. Whatever is too much for a path and a template is a function like this one.
export function migrate(values) {
  const app = values.apps?.console;
  if (typeof app?.replicas === 'string') app.replicas = Number.parseInt(app.replicas, 10);
}
