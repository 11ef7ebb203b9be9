export interface KubectlStep {
  readonly label: string;
  readonly args: readonly string[];
  /** Sent to `-f -`. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Ends a command that would go on forever. */
  readonly until?: (stdout: string) => boolean;
  /** Only its exit code is compared: its text tells of things that take different time on different servers. */
  readonly codeOnly?: boolean;
}

const step = (label: string, args: string, extra: Partial<KubectlStep> = {}): KubectlStep => ({
  label,
  args: args.split(' '),
  ...extra,
});

const configMap = (data: Record<string, string>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data });

const deployment = (image: string, replicas = 2) => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: ${replicas}
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
        - name: main
          image: ${image}
          ports:
            - containerPort: 80
`;

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, singular: boat, kind: Boat, shortNames: [bo] }
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns:
        - { name: Length, type: integer, jsonPath: .spec.length }
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [length]
              properties:
                length: { type: integer, minimum: 1, description: Metres from bow to stern. }
            status:
              type: object
              properties:
                phase: { type: string }
`;

const boat = (length: string) => `
apiVersion: example.com/v1
kind: Boat
metadata: { name: one }
spec: { length: ${length} }
`;

/** What people type, in an order that makes sense. Every command runs in the namespace `work`. */
export const kubectlSteps: readonly KubectlStep[] = [
  step('create a namespace', 'create namespace work'),
  step('create a namespace again', 'create namespace work'),
  step('create a ConfigMap', 'create configmap made --from-literal=a=1'),
  step('create a Secret', 'create secret generic hidden --from-literal=password=x'),
  step('apply', 'apply -f -', { stdin: configMap({ a: '1' }) }),
  step('apply the same', 'apply -f -', { stdin: configMap({ a: '1' }) }),
  step('diff', 'diff -f -', { stdin: configMap({ a: '2' }), codeOnly: true }),
  step('diff of nothing', 'diff -f -', { stdin: configMap({ a: '1' }) }),
  step('apply a change', 'apply -f -', { stdin: configMap({ a: '2' }) }),
  step('apply by the server', 'apply --server-side -f -', { stdin: configMap({ a: '2', b: '3' }) }),
  step('apply by the server as another', 'apply --server-side --field-manager=other -f -', {
    stdin: configMap({ a: '9' }),
  }),
  step('apply by the server with force', 'apply --server-side --field-manager=other --force-conflicts -f -', {
    stdin: configMap({ a: '9' }),
  }),
  step('apply nonsense', 'apply -f -', {
    stdin: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"datum":{}}',
  }),
  step('get', 'get configmap settings made'),
  step('get wide', 'get secrets -o wide'),
  step('get yaml', 'get configmap settings -o yaml'),
  step('get jsonpath', 'get configmap settings -o jsonpath={.data.a}'),
  step('get what is not there', 'get configmap nothing'),
  step('get an unknown kind', 'get gizmos'),
  step('label', 'label configmap settings team=x'),
  step('label again', 'label configmap settings team=y'),
  step('label with overwrite', 'label --overwrite configmap settings team=y'),
  step('get by label', 'get configmap -l team=y -o name'),
  step('annotate', 'annotate configmap settings note=hello'),
  step('replace', 'replace -f -', { stdin: configMap({ a: 'replaced' }) }),
  step('edit', 'edit configmap settings', { env: { KUBE_EDITOR: 'sed -i s/replaced/edited/' } }),
  step('get the edited', 'get configmap settings -o jsonpath={.data}'),
  step('patch', 'patch configmap settings --type=merge -p {"data":{"c":"4"}}'),
  step('describe a ConfigMap', 'describe configmap settings'),
  step('watch', 'get configmap -w --field-selector metadata.name=settings', {
    until: (stdout) => stdout.split('\n').length > 2,
    codeOnly: true,
  }),
  step('apply a Deployment', 'apply -f -', { stdin: deployment('web:1') }),
  step('rollout status', 'rollout status deployment/web --timeout=60s', { codeOnly: true }),
  step('wait', 'wait --for=condition=Available deployment/web --timeout=60s'),
  step('get the Deployment', 'get deployment web'),
  step('get pods', 'get pods -l app=web'),
  step('set image', 'set image deployment/web main=web:2'),
  step('rollout status again', 'rollout status deployment/web --timeout=60s', { codeOnly: true }),
  step('rollout history', 'rollout history deployment/web'),
  step('rollout undo', 'rollout undo deployment/web'),
  step('rollout status after undo', 'rollout status deployment/web --timeout=60s', { codeOnly: true }),
  step('rollout restart', 'rollout restart deployment/web'),
  step('rollout status after restart', 'rollout status deployment/web --timeout=60s', { codeOnly: true }),
  step('scale', 'scale deployment/web --replicas=3'),
  step('wait for three', 'wait --for=jsonpath={.status.availableReplicas}=3 deployment/web --timeout=60s'),
  step('expose', 'expose deployment web --port=80'),
  step('get the Service', 'get service web -o jsonpath={.spec.ports[0].targetPort}'),
  step('describe a Deployment', 'describe deployment web', { codeOnly: true }),
  step('describe nodes', 'describe nodes', { codeOnly: true }),
  step('get nodes', 'get nodes -o name', { codeOnly: true }),
  step('run a Job', 'create job once --image=x -- true'),
  step('wait for the Job', 'wait --for=condition=Complete job/once --timeout=60s'),
  step('create a CronJob', 'create cronjob often --image=x --schedule=*/5_*_*_*_*'),
  step('apply a CRD', 'apply -f -', { stdin: crd }),
  step('wait for the CRD', 'wait --for=condition=Established crd/boats.example.com --timeout=60s'),
  step('apply a custom resource', 'apply -f -', { stdin: boat('3') }),
  step('apply a bad one', 'apply -f -', { stdin: boat('0') }),
  step('get it by its short name', 'get bo'),
  step('explain it', 'explain boats.spec --recursive'),
  step('explain a field', 'explain boat.spec.length'),
  step('explain a built-in', 'explain deployment.spec.replicas'),
  step('patch its status', 'patch boat one --subresource=status --type=merge -p {"status":{"phase":"Afloat"}}'),
  step('wait for a value', 'wait --for=jsonpath={.status.phase}=Afloat boat/one --timeout=30s'),
  step('api-resources', 'api-resources --api-group=apps'),
  step('api-resources of the CRD', 'api-resources --api-group=example.com --no-headers'),
  step('api-versions', 'api-versions'),
  step('can I', 'auth can-i create pods'),
  step('can somebody', 'auth can-i create pods --as=nobody'),
  step('who am I', 'auth whoami -o jsonpath={.status.userInfo.username}'),
  step('create a role', 'create role reader --verb=get,list --resource=configmaps'),
  step('bind it', 'create rolebinding reads --role=reader --user=alice'),
  step('now she can', 'auth can-i list configmaps --as=alice'),
  step('create an account', 'create serviceaccount robot'),
  step('create a token', 'create token robot', { codeOnly: true }),
  step('logs of nothing', 'logs nothing'),
  step('delete in the foreground', 'delete deployment web --cascade=foreground --timeout=60s'),
  step('nothing is left', 'get deployments,replicasets'),
  step('delete', 'delete configmap settings made'),
  step('delete again', 'delete configmap settings'),
  step('delete with ignore', 'delete configmap settings --ignore-not-found'),
  step('delete the CRD', 'delete crd boats.example.com --timeout=60s'),
  step('delete the namespace', 'delete namespace work --timeout=60s'),
  step('it is gone', 'get namespace work'),
  step('version', 'version -o json', { codeOnly: true }),
  step('cluster-info', 'cluster-info', { codeOnly: true }),
];
