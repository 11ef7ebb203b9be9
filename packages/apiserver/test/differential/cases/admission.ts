import {
  configMap,
  core,
  del,
  differentialCase as test,
  mergePatch,
  applyPatch,
  patch,
  post,
  type Json,
  type Poll,
  type Step,
} from '../case.ts';

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
