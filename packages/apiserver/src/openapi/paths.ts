import type { JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** The operations of one group and version, as far as clients look at them: actions, kinds, parameters, schemas. */
export function pathsOf(group: string, version: string, resources: readonly Resource[]): JsonObject {
  const base = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const tag = `${camel(group || 'core')}_${version}`;
  const paths: JsonObject = {};
  if (resources.some(({ custom }) => !custom)) {
    paths[`${base}/`] = {
      get: {
        tags: [tag],
        description: 'get available resources',
        operationId: `get${operationPrefix(group, version)}APIResources`,
        responses: responses('io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList', [200]),
      },
    };
  }
  for (const resource of resources) addResource(paths, base, tag, resource);
  return Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function addResource(paths: JsonObject, base: string, tag: string, resource: Resource): void {
  const collection = resource.namespaced
    ? `${base}/namespaces/{namespace}/${resource.plural}`
    : `${base}/${resource.plural}`;
  const context = new Operations(tag, resource);
  const has = (verb: string) => resource.verbs.includes(verb);
  const onCollection: JsonObject = {};
  if (has('list')) onCollection['get'] = context.list(scopeOf(resource));
  if (has('create')) onCollection['post'] = context.create();
  if (has('deletecollection')) onCollection['delete'] = context.deleteCollection();
  if (Object.keys(onCollection).length > 0) {
    paths[collection] = { ...onCollection, parameters: pathParameters(resource, false) };
  }
  if (resource.namespaced && has('list')) {
    paths[`${base}/${resource.plural}`] = {
      get: context.list('ForAllNamespaces'),
      parameters: [prettyParameter, ...listParameters],
    };
  }
  const onObject: JsonObject = {};
  if (has('get')) onObject['get'] = context.read();
  if (has('update')) onObject['put'] = context.replace();
  if (has('delete')) onObject['delete'] = context.delete();
  if (has('patch')) onObject['patch'] = context.patch();
  if (Object.keys(onObject).length > 0) {
    paths[`${collection}/{name}`] = { ...onObject, parameters: pathParameters(resource, true) };
  }
  for (const [name, { kind }] of Object.entries(resource.subresources)) {
    // Streams into pods and proxies are not built; a client must not be led to them.
    if (kind.endsWith('Options')) continue;
    paths[`${collection}/{name}/${name}`] = {
      ...subresourceOperations(tag, resource, name),
      parameters: pathParameters(resource, true),
    };
  }
}

function subresourceOperations(tag: string, resource: Resource, name: string): JsonObject {
  const { verbs } = resource.subresources[name]!;
  const context = new Operations(tag, resource, name);
  return {
    ...(verbs.includes('get') ? { get: context.read() } : {}),
    ...(verbs.includes('update') ? { put: context.replace() } : {}),
    ...(verbs.includes('create') ? { post: context.create() } : {}),
    ...(verbs.includes('patch') ? { patch: context.patch() } : {}),
  };
}

const scopeOf = (resource: Resource): 'Namespaced' | '' => (resource.namespaced ? 'Namespaced' : '');

/** Makes the operations of one resource or subresource. */
class Operations {
  readonly #tag: string;
  readonly #resource: Resource;
  readonly #suffix: string;
  readonly #kind: { group: string; version: string; kind: string };
  readonly #schema: string;

  constructor(tag: string, resource: Resource, subresource = '') {
    this.#tag = tag;
    this.#resource = resource;
    this.#suffix = subresource ? subresource[0]!.toUpperCase() + subresource.slice(1) : '';
    const described = subresource ? resource.subresources[subresource]! : resource;
    this.#kind = {
      group: described.group || (described.version ? '' : resource.group),
      version: described.version || resource.version,
      kind: described.kind,
    };
    if (subresource && !described.group && (!described.version || described.version === resource.version)) {
      this.#kind.group = resource.group;
    }
    this.#schema = definitionName(this.#kind, resource);
  }

  list(scope: 'Namespaced' | 'ForAllNamespaces' | ''): JsonObject {
    const id = scope === 'ForAllNamespaces' ? this.#id('list', '', scope) : this.#id('list', scope);
    const { group, version, listKind } = this.#resource;
    const schema = definitionName({ group, version, kind: listKind }, this.#resource);
    const parameters: JsonObject = scope === 'ForAllNamespaces' ? {} : { parameters: listParameters };
    return this.#operation('list', id, `list or watch objects of kind ${this.#kind.kind}`, {
      ...parameters,
      responses: responses(schema, [200], true),
    });
  }

  create(): JsonObject {
    return this.#operation('post', this.#id('create'), `create a ${this.#kind.kind}`, {
      parameters: writeParameters,
      requestBody: body(this.#schema),
      responses: responses(this.#schema, [200, 201, 202]),
    });
  }

  deleteCollection(): JsonObject {
    return this.#operation(
      'deletecollection',
      this.#id('delete', `Collection${scopeOf(this.#resource)}`),
      `delete a collection of ${this.#kind.kind}`,
      {
        parameters: [...listParameters, ...deleteParameters],
        requestBody: { content: { '*/*': { schema: ref(deleteOptionsName) } } },
        responses: responses(statusName, [200]),
      },
    );
  }

  read(): JsonObject {
    return this.#operation('get', this.#id('read'), `read the specified ${this.#kind.kind}`, {
      responses: responses(this.#schema, [200]),
    });
  }

  replace(): JsonObject {
    return this.#operation('put', this.#id('replace'), `replace the specified ${this.#kind.kind}`, {
      parameters: writeParameters,
      requestBody: body(this.#schema),
      responses: responses(this.#schema, [200, 201]),
    });
  }

  delete(): JsonObject {
    return this.#operation('delete', this.#id('delete'), `delete a ${this.#kind.kind}`, {
      parameters: deleteParameters,
      requestBody: { content: { '*/*': { schema: ref(deleteOptionsName) } } },
      responses: responses(statusName, [200, 202]),
    });
  }

  patch(): JsonObject {
    const types = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
    if (!this.#resource.custom) types.push('application/strategic-merge-patch+json');
    const schema = ref('io.k8s.apimachinery.pkg.apis.meta.v1.Patch');
    return this.#operation('patch', this.#id('patch'), `partially update the specified ${this.#kind.kind}`, {
      parameters: [...writeParameters, parameter('force', 'boolean')],
      requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])), required: true },
      responses: responses(this.#schema, [200, 201]),
    });
  }

  #id(verb: string, scope: string = scopeOf(this.#resource), after = ''): string {
    const { group, version, kind } = this.#resource;
    return `${verb}${operationPrefix(group, version)}${scope}${kind}${this.#suffix}${after}`;
  }

  #operation(action: string, operationId: string, description: string, rest: JsonObject): JsonObject {
    return {
      tags: [this.#tag],
      description,
      operationId,
      ...rest,
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { ...this.#kind },
    };
  }
}

const statusName = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
const deleteOptionsName = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** The schema name of a kind: known for built-ins, reversed group for custom resources. */
function definitionName(kind: { group: string; version: string; kind: string }, resource: Resource): string {
  if (kind.group === 'autoscaling' && kind.kind === 'Scale') return 'io.k8s.api.autoscaling.v1.Scale';
  if (resource.custom) return `${kind.group.split('.').toReversed().join('.')}.${kind.version}.${kind.kind}`;
  const own = resource.schema.definition;
  if (own && kind.kind === resource.kind) return own;
  if (own && kind.group === resource.group && kind.version === resource.version) {
    return `${own.slice(0, own.lastIndexOf('.'))}.${kind.kind}`;
  }
  return `io.k8s.api.${kind.group.split('.')[0] || 'core'}.${kind.version}.${kind.kind}`;
}

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

function body(schema: string): JsonObject {
  return { content: { '*/*': { schema: ref(schema) } }, required: true };
}

const codeTexts: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

function responses(schema: string, codes: readonly number[], stream = false): JsonObject {
  const types = stream
    ? ['application/json', 'application/json;stream=watch', 'application/yaml']
    : ['application/json', 'application/yaml'];
  const content = Object.fromEntries(types.map((type) => [type, { schema: ref(schema) }]));
  const answers = codes.map((code) => [String(code), { description: codeTexts[code]!, content }]);
  return { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } };
}

function parameter(name: string, type: string): JsonObject {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

const prettyParameter = parameter('pretty', 'string');

const listParameters = [
  parameter('allowWatchBookmarks', 'boolean'),
  parameter('continue', 'string'),
  parameter('fieldSelector', 'string'),
  parameter('labelSelector', 'string'),
  parameter('limit', 'integer'),
  parameter('resourceVersion', 'string'),
  parameter('resourceVersionMatch', 'string'),
  parameter('sendInitialEvents', 'boolean'),
  parameter('timeoutSeconds', 'integer'),
  parameter('watch', 'boolean'),
];

const writeParameters = [
  parameter('dryRun', 'string'),
  parameter('fieldManager', 'string'),
  parameter('fieldValidation', 'string'),
];

const deleteParameters = [
  parameter('dryRun', 'string'),
  parameter('gracePeriodSeconds', 'integer'),
  parameter('orphanDependents', 'boolean'),
  parameter('propagationPolicy', 'string'),
];

function pathParameters(resource: Resource, named: boolean): JsonObject[] {
  const inPath = (name: string): JsonObject => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  });
  return [...(named ? [inPath('name')] : []), ...(resource.namespaced ? [inPath('namespace')] : []), prettyParameter];
}

/** `rbac.authorization.k8s.io` → `rbacAuthorization`, as operation ids and tags have it. */
function camel(group: string): string {
  const words = group.replace(/\.k8s\.io$/, '').split(/[.-]/);
  return words.map((word, index) => (index === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('');
}

function operationPrefix(group: string, version: string): string {
  const name = camel(group || 'core');
  return `${name[0]!.toUpperCase()}${name.slice(1)}${version[0]!.toUpperCase()}${version.slice(1)}`;
}
