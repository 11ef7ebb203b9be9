import {
  configMap,
  core,
  del,
  differentialCase as test,
  mergePatch,
  applyPatch,
  patch,
  post,
  put,
  poll,
  get,
  type Json,
  type Poll,
  type Step,
} from '../case.ts';
import { deployment } from './workloads.ts';

const maps = core('configmaps');
const registration = '/apis/admissionregistration.k8s.io/v1';

function hookOf(kind: 'Validating' | 'Mutating', path: string, extra: object = {}): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: '{ns}' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `{hooks}${path}`, caBundle: '{hooksCa}' },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['configmaps'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } },
        ...extra,
      },
    ],
  };
}

const collections = {
  Validating: `${registration}/validatingwebhookconfigurations`,
  Mutating: `${registration}/mutatingwebhookconfigurations`,
};

/** A server needs a moment until it asks a new webhook: a probe is sent until it does. */
function hooked(
  name: string,
  kind: 'Validating' | 'Mutating',
  path: string,
  extra: object,
  works: Poll['until'],
  ...steps: Step[]
) {
  return test(
    name,
    post('configuration', collections[kind], hookOf(kind, path, extra)),
    {
      does: 'poll',
      what: 'the webhook to be asked',
      request: post('probe', `${maps}?dryRun=All`, configMap('probe', { a: '1' })),
      until: works,
    },
    ...steps,
    del('remove', `${collections[kind]}/{ns}`, undefined, { pick: ({ kind: answer }: Json) => answer }),
  );
}

const create = (name: string, label = 'create') => post(label, maps, configMap(name, { a: '1' }));
const refused: Poll['until'] = ({ status }) => status >= 400;
const warned: Poll['until'] = ({ body }) => Boolean(body.metadata?.labels?.injected);

const boatsOf = (version: string) => `/apis/convert.example.com/${version}/namespaces/{ns}/boats`;
const boat = (version: string, name: string, spec: object) => ({
  apiVersion: `convert.example.com/${version}`,
  kind: 'Boat',
  metadata: { name },
  spec,
});

/** Webhooks and policies. */
export const admission = [
  hooked(
    'webhook that denies',
    'Validating',
    '/deny',
    {},
    refused,
    create('a'),
    patch('apply', `${maps}/b?fieldManager=m`, applyPatch, configMap('b', {})),
  ),
  hooked('webhook that denies with causes', 'Validating', '/deny422', {}, refused, create('a')),
  hooked('webhook that denies without a status', 'Validating', '/deny-bare', {}, refused, create('a')),
  hooked('webhook that fails', 'Validating', '/500', {}, refused, create('a')),
  hooked('webhook that fails and is ignored', 'Mutating', '/500', { failurePolicy: 'Ignore' }, () => true, create('a')),
  hooked('webhook that is slow', 'Validating', '/slow', { timeoutSeconds: 1 }, refused, create('a')),
  hooked('webhook that answers somebody else', 'Validating', '/wrong-uid', {}, refused, create('a')),
  hooked('webhook that answers nonsense', 'Validating', '/nonsense', {}, refused, create('a')),
  hooked(
    'webhook that is not there',
    'Validating',
    '/deny',
    { clientConfig: { url: 'https://127.0.0.1:1/none' } },
    refused,
    create('a'),
  ),
  hooked(
    'webhook with conditions',
    'Validating',
    '/deny',
    {
      matchConditions: [{ name: 'only', expression: "object.metadata.name in ['x', 'probe']" }],
    },
    refused,
    create('y', 'not met'),
    create('x', 'met'),
  ),
  hooked(
    'webhook with an object selector',
    'Validating',
    '/deny',
    {
      objectSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
    },
    refused,
    post('not selected', maps, configMap('f', {}, { labels: { free: 'yes' } })),
    create('s', 'selected'),
  ),
  hooked(
    'webhook that changes',
    'Mutating',
    '/mutate',
    { reinvocationPolicy: 'IfNeeded' },
    warned,
    create('a'),
    patch('update', `${maps}/a`, mergePatch, { data: { b: '2' } }),
    patch('apply', `${maps}/b?fieldManager=me`, applyPatch, configMap('b', { a: '1' })),
    post('dry run', `${maps}?dryRun=All`, configMap('c', {})),
    del('delete', `${maps}/a`),
  ),
  hooked('webhook whose patch does not fit', 'Mutating', '/bad-patch', {}, refused, create('a')),
  hooked(
    'what a webhook is asked on create',
    'Validating',
    '/echo',
    {},
    refused,
    create('a'),
    post('generated name', maps, { metadata: { generateName: 'g-' } }),
    post('dry run', `${maps}?dryRun=All&fieldManager=me`, configMap('b', {})),
    patch('apply', `${maps}/c?fieldManager=me&force=true`, applyPatch, configMap('c', {})),
    post('by somebody else', maps, configMap('d', {}), {
      headers: { 'impersonate-user': 'kate', 'impersonate-group': 'system:masters' },
    }),
  ),
  test(
    'what a webhook is asked on update and delete',
    create('a'),
    post('scaled', '/apis/apps/v1/namespaces/{ns}/deployments', deployment('web'), { pick: ({ kind }: Json) => kind }),
    post(
      'configuration',
      collections.Validating,
      hookOf('Validating', '/echo', {
        rules: [
          {
            apiGroups: ['', 'apps'],
            apiVersions: ['v1'],
            operations: ['UPDATE', 'DELETE'],
            resources: ['configmaps', 'deployments', 'deployments/*'],
          },
        ],
      }),
      { pick: ({ kind }: Json) => kind },
    ),
    {
      does: 'poll',
      what: 'the webhook to be asked',
      request: patch('probe', `${maps}/a?dryRun=All`, mergePatch, { data: { probe: '1' } }),
      until: refused,
    },
    patch('merge patch', `${maps}/a?fieldManager=me`, mergePatch, { data: { b: '2' } }),
    put('update', `${maps}/a`, configMap('a', { c: '3' })),
    del('delete', `${maps}/a`, { propagationPolicy: 'Foreground', gracePeriodSeconds: 0 }),
    del('delete a collection', maps),
    patch('scale', '/apis/apps/v1/namespaces/{ns}/deployments/web/scale', mergePatch, { spec: { replicas: 2 } }),
    patch('status', '/apis/apps/v1/namespaces/{ns}/deployments/web/status', mergePatch, { status: { replicas: 1 } }),
    patch('nothing changes', `${maps}/a`, mergePatch, {}),
    del('remove', `${collections.Validating}/{ns}`, undefined, { pick: ({ kind }: Json) => kind }),
  ),
  test(
    'conversion webhook',
    post('CRD', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boats.convert.example.com' },
      spec: {
        group: 'convert.example.com',
        scope: 'Namespaced',
        names: { plural: 'boats', singular: 'boat', kind: 'Boat' },
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { url: '{hooks}/convert', caBundle: '{hooksCa}' },
          },
        },
        versions: ['v1', 'v2'].map((name) => ({
          name,
          served: true,
          storage: name === 'v1',
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        })),
      },
    }),
    poll('the resource', boatsOf('v1'), ({ status }) => status === 200),
    poll('the second version', boatsOf('v2'), ({ status }) => status === 200),
    post('create as v1', boatsOf('v1'), boat('v1', 'one', { length: 3 })),
    get('read as v2', `${boatsOf('v2')}/one`),
    post('create as v2', boatsOf('v2'), boat('v2', 'two', { metres: { value: 4 } })),
    get('read as v1', `${boatsOf('v1')}/two`),
    get('list as v2', boatsOf('v2')),
    patch('patch as v2', `${boatsOf('v2')}/one`, mergePatch, { spec: { metres: { value: 5 } } }),
    get('patched as v1', `${boatsOf('v1')}/one`),
    patch(
      'apply as v2',
      `${boatsOf('v2')}/one?fieldManager=me&force=true`,
      applyPatch,
      boat('v2', 'one', { metres: { value: 6 } }),
    ),
    post('create what cannot be converted', boatsOf('v2'), boat('v2', 'wreck', { metres: { value: 1 } })),
    post('store it as v1', boatsOf('v1'), boat('v1', 'wreck', { length: 1 })),
    get('read it as v2', `${boatsOf('v2')}/wreck`),
    get('list with it as v2', boatsOf('v2')),
    del('delete as v2', `${boatsOf('v2')}/two`),
  ),
  test(
    'webhook configurations',
    post('validating', collections.Validating, hookOf('Validating', '/allow', { rules: [] })),
    post('mutating', collections.Mutating, hookOf('Mutating', '/allow', { rules: [] })),
    post('without side effects', collections.Validating, {
      metadata: { name: 'x' },
      webhooks: [{ name: 'a.b.c', clientConfig: { url: 'https://x.example.com' }, admissionReviewVersions: ['v1'] }],
    }),
    post('bad name', collections.Validating, {
      metadata: { name: 'x' },
      webhooks: [
        {
          name: 'short',
          sideEffects: 'None',
          clientConfig: { url: 'https://x.example.com' },
          admissionReviewVersions: ['v1'],
        },
      ],
    }),
    post('plain http', collections.Validating, {
      metadata: { name: 'x' },
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          clientConfig: { url: 'http://x.example.com' },
          admissionReviewVersions: ['v1'],
        },
      ],
    }),
    post('no reviewable version', collections.Validating, {
      metadata: { name: 'x' },
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          clientConfig: { url: 'https://x.example.com' },
          admissionReviewVersions: ['v9'],
        },
      ],
    }),
    del('remove', `${collections.Validating}/{ns}`, undefined, { pick: ({ kind }: Json) => kind }),
  ),
  test(
    'validating policy',
    post('policy', `${registration}/validatingadmissionpolicies`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: '{ns}' },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } },
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [
          { expression: "!object.metadata.name.startsWith('bad')", message: 'the name is bad' },
          { expression: "object.metadata.name != 'probe'", messageExpression: "'not ' + object.metadata.name" },
        ],
      },
    }),
    post('binding', `${registration}/validatingadmissionpolicybindings`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: '{ns}' },
      spec: { policyName: '{ns}', validationActions: ['Deny'] },
    }),
    {
      does: 'poll',
      what: 'the policy to hold',
      request: post('probe', `${maps}?dryRun=All`, configMap('probe', {})),
      until: refused,
    },
    create('bad-one', 'denied'),
    create('probe', 'denied by the second'),
    create('good', 'allowed'),
    post('expression that does not compile', `${registration}/validatingadmissionpolicies`, {
      metadata: { name: 'x' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'object.' }],
      },
    }),
    del('remove', `${registration}/validatingadmissionpolicybindings/{ns}`),
  ),
];
