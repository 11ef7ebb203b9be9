import type { Answer } from './answer.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { builtinSchema } from '../schema/builtin.ts';
import type { Core, ResourceRequest } from './core.ts';
import { matchNamespace } from './create.ts';
import { decodeObject, type ExpectedKind } from './decode-object.ts';
import { trackedFields } from './field-ownership.ts';
import { writeOptions } from './options.ts';

/** Reviews of the asking user are answered without looking at what was sent. */
const untracked = new Set(['SelfSubjectReview', 'SelfSubjectRulesReview']);

/** POST to something that is answered but not stored; undefined when nobody answers it. */
export function answerVirtual(core: Core, request: ResourceRequest, parent?: ApiObject): Promise<Answer> | undefined {
  const { resource, subresource } = request;
  const path = subresource ? `${resource.plural}/${subresource}` : resource.plural;
  const handler = core.auth.virtual.get(`${resource.group}/${path}`);
  if (!handler) return undefined;
  return (async () => {
    const options = writeOptions(request, 'CreateOptions');
    const expected = expectedKind(request);
    const object = decodeObject(request, options.fieldValidation, expected);
    matchNamespace(object, request);
    if (expected.kind === 'TokenRequest') {
      const spec = (object['spec'] ?? {}) as JsonObject;
      object['spec'] = { ...spec, expirationSeconds: spec['expirationSeconds'] ?? 3_600 };
    }
    if (!untracked.has(expected.kind))
      trackedFields(core, request, { live: undefined, next: object, options, expected });
    const answered = await handler({
      resource,
      subresource,
      namespace: request.namespace,
      name: request.name,
      object,
      user: request.user,
      dryRun: options.dryRun,
      ...(parent ? { parent } : {}),
    });
    return { kind: 'object', status: 201, object: answered, resource };
  })();
}

/** The kind a subresource takes. */
export function expectedKind(request: ResourceRequest): ExpectedKind {
  const { resource, subresource } = request;
  const described = subresource ? resource.subresources[subresource] : undefined;
  if (!described) return resource;
  const group = described.group || resource.group;
  const version = described.version || resource.version;
  if (group === resource.group && version === resource.version && described.kind === resource.kind) return resource;
  const schema = builtinSchema(group, version, described.kind) ?? { type: 'object', preserveUnknownFields: true };
  return { group, version, kind: described.kind, custom: false, schema };
}
