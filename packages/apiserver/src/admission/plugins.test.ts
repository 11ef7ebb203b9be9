import { expect, test } from 'vitest';
import { startAuthCluster, type AuthCluster } from '../auth/auth.fixture.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/wh1/configmaps';
const PODS = '/api/v1/namespaces/wh1/pods';

async function prepared(): Promise<AuthCluster> {
  const setup = await startAuthCluster();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wh1', labels: { wh: 'on' } } };
  await setup.admin.post('/api/v1/namespaces', namespace);
  return setup;
}

function configMap(name: string, data: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

function pod(spec: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
  };
}

test('nothing is created in a missing or a terminating namespace', async () => {
  await using setup = await prepared();
  const missing = await setup.admin.post('/api/v1/namespaces/none/configmaps', configMap('a'));
  expect([missing.status, missing.body['message']]).toEqual([404, 'namespaces "none" not found']);
  await setup.admin.remove('/api/v1/namespaces/wh1');
  const late = await setup.admin.post(CONFIG_MAPS, configMap('late'));
  expect(late.body).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message:
      'configmaps "late" is forbidden: unable to create new content in namespace wh1 because it is being terminated',
    details: {
      name: 'late',
      kind: 'configmaps',
      causes: [
        { reason: 'NamespaceTerminating', message: 'namespace wh1 is being terminated', field: 'metadata.namespace' },
      ],
    },
  });
});

test('some namespaces may not be deleted', async () => {
  await using setup = await prepared();
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const { status, body } = await setup.admin.remove(`/api/v1/namespaces/${name}`);
    expect([status, body['message']]).toEqual([
      403,
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    ]);
  }
});

test('pods get a priority and tolerations', async () => {
  await using setup = await prepared();
  const plain = await setup.admin.post(PODS, pod());
  expect(plain.body['spec']).toMatchObject({
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  });
  await setup.admin.remove(`${PODS}/p`);
  const created = await setup.admin.post('/apis/scheduling.k8s.io/v1/priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
    preemptionPolicy: 'Never',
  });
  expect(created.status).toBe(201);
  const high = await setup.admin.post(PODS, pod({ priorityClassName: 'high' }));
  expect(high.body['spec']).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' });
  await setup.admin.remove(`${PODS}/p`);
  const unknown = await setup.admin.post(PODS, pod({ priorityClassName: 'nope' }));
  expect([unknown.status, unknown.body['message']]).toEqual([
    403,
    'pods "p" is forbidden: no PriorityClass with name nope was found',
  ]);
});

test('claims and volumes are protected from the start', async () => {
  await using setup = await prepared();
  const { body } = await setup.admin.post('/api/v1/namespaces/wh1/persistentvolumeclaims', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  expect(body['metadata'].finalizers).toEqual(['kubernetes.io/pvc-protection']);
});

async function policy(setup: AuthCluster, spec: object, binding: object = {}, name = 'vap'): Promise<void> {
  const created = await setup.admin.post(`${POLICIES}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
        ],
      },
      ...spec,
    },
  });
  expect([created.status, created.body['message']]).toEqual([201, undefined]);
  const bound = await setup.admin.post(`${POLICIES}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...binding },
  });
  expect([bound.status, bound.body['message']]).toEqual([201, undefined]);
}

test('a policy denies what its expression forbids', async () => {
  await using setup = await prepared();
  await policy(setup, {
    validations: [{ expression: "!object.metadata.name.startsWith('bad')", message: 'bad name' }],
  });
  expect((await setup.admin.post(CONFIG_MAPS, configMap('good'))).status).toBe(201);
  expect((await setup.admin.post(CONFIG_MAPS, configMap('bad1'))).body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      "configmaps \"bad1\" is forbidden: ValidatingAdmissionPolicy 'vap' with binding 'vap' denied request: bad name",
    reason: 'Invalid',
    details: {
      name: 'bad1',
      kind: 'configmaps',
      causes: [{ message: "ValidatingAdmissionPolicy 'vap' with binding 'vap' denied request: bad name" }],
    },
    code: 422,
  });
});

test('without a message the expression speaks; reasons choose the code; variables and oldObject are there', async () => {
  await using setup = await prepared();
  await policy(setup, {
    variables: [
      { name: 'before', expression: "oldObject == null ? '0' : oldObject.data.n" },
      { name: 'grows', expression: 'int(object.data.n) >= int(variables.before)' },
    ],
    validations: [{ expression: 'variables.grows', reason: 'Forbidden' }],
  });
  expect((await setup.admin.post(CONFIG_MAPS, configMap('n', { n: '5' }))).status).toBe(201);
  expect((await setup.admin.patch(`${CONFIG_MAPS}/n`, { data: { n: '6' } })).status).toBe(200);
  const shrunk = await setup.admin.patch(`${CONFIG_MAPS}/n`, { data: { n: '4' } });
  expect([shrunk.status, shrunk.body['reason'], shrunk.body['message']]).toEqual([
    403,
    'Forbidden',
    "configmaps \"n\" is forbidden: ValidatingAdmissionPolicy 'vap' with binding 'vap' denied request: failed expression: variables.grows",
  ]);
});

test('parameters, message expressions and warnings', async () => {
  await using setup = await prepared();
  await setup.admin.post(CONFIG_MAPS, configMap('limits', { max: '3' }));
  await policy(
    setup,
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'not-the-limits', expression: "object.metadata.name != 'limits'" }],
      validations: [
        {
          expression: 'int(object.data.n) <= int(params.data.max)',
          messageExpression: "'at most ' + params.data.max + ' in ' + namespaceObject.metadata.name",
        },
      ],
    },
    { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' }, validationActions: ['Warn'] },
  );
  const { status, headers } = await setup.admin.post(CONFIG_MAPS, configMap('n', { n: '5' }));
  expect(status).toBe(201);
  expect(headers['warning']).toEqual([
    "299 - \"Validation failed for ValidatingAdmissionPolicy 'vap' with binding 'vap': at most 3 in wh1\"",
  ]);
  await setup.admin.remove(`${CONFIG_MAPS}/limits`);
});

test('an expression that fails denies, unless the policy ignores failures', async () => {
  await using setup = await prepared();
  await policy(setup, { validations: [{ expression: "object.data.nope == 'x'" }] });
  const denied = await setup.admin.post(CONFIG_MAPS, configMap('a', { b: 'c' }));
  expect(denied.status).toBe(422);
  expect(denied.body['message']).toMatch(/denied request: expression 'object\.data\.nope == 'x'' resulted in error: /);
  await setup.admin.patch(`${POLICIES}/validatingadmissionpolicies/vap`, { spec: { failurePolicy: 'Ignore' } });
  expect((await setup.admin.post(CONFIG_MAPS, configMap('a', { b: 'c' }))).status).toBe(201);
});

test('claims and Ingresses without a class get the default one', async () => {
  await using setup = await prepared();
  const storageClass = (name: string, isDefault: boolean) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
    provisioner: 'e.com/disks',
  });
  await setup.admin.post('/apis/storage.k8s.io/v1/storageclasses', storageClass('fast', true));
  await setup.admin.post('/apis/storage.k8s.io/v1/storageclasses', storageClass('slow', false));
  const claim = (name: string, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
  const claims = '/api/v1/namespaces/wh1/persistentvolumeclaims';
  expect((await setup.admin.post(claims, claim('a'))).body['spec'].storageClassName).toBe('fast');
  const chosen = await setup.admin.post(claims, claim('b', { storageClassName: 'slow' }));
  expect(chosen.body['spec'].storageClassName).toBe('slow');
  const none = await setup.admin.post(claims, claim('c', { storageClassName: '' }));
  expect(none.body['spec'].storageClassName).toBe('');

  await setup.admin.post('/apis/networking.k8s.io/v1/ingressclasses', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: 'edge', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'e.com/edge' },
  });
  const ingress = await setup.admin.post('/apis/networking.k8s.io/v1/namespaces/wh1/ingresses', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i' },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  });
  expect(ingress.body['spec'].ingressClassName).toBe('edge');
});

test('expressions may ask what the user may do', async () => {
  await using setup = await startAuthCluster({ authorization: 'RBAC' });
  await setup.admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wh1' } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const role = await setup.admin.post(`${rbac}/clusterroles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'maker' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'bless'] }],
  });
  expect(role.status).toBe(201);
  await setup.admin.post(`${rbac}/clusterrolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'maker' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  await policy(setup, {
    validations: [
      {
        expression:
          "authorizer.requestResource.check('bless').allowed() && (!('secret' in object.data) || " +
          "authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed())",
        message: 'not blessed',
      },
    ],
  });
  const alice = setup.as('alice');
  const plain = await alice.post(CONFIG_MAPS, configMap('plain', { a: 'b' }));
  expect([plain.status, plain.body['message']]).toEqual([201, undefined]);
  expect((await alice.post(CONFIG_MAPS, configMap('hidden', { secret: 'x' }))).status).toBe(422);
});
