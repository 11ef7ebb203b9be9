import { type ChildProcess, spawn } from 'node:child_process';
import { readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AdminClient, RequestFailed } from '../admin-client.ts';
import type { BackOffLimits } from './back-off.ts';
import { type BaseEnvironment, containerEnvironment, expandVariables } from './container-environment.ts';
import type { ContainerProcessOptions } from './container-process.ts';
import { ContainerRunner, type RestartPolicy, UnknownImage } from './container-runner.ts';
import type { ImageTable } from './images.ts';
import { connectPod, type PodNetwork } from './pod-network.ts';
import type { PodObjects } from './pod-objects.ts';
import { newRecord, type PodCondition, podStatus, timestamp } from './pod-status.ts';
import { PodVolumes } from './pod-volumes.ts';
import type { Container, RunnablePod } from './running-pod.ts';

export interface PodWorkerOptions {
  admin: AdminClient;
  network: PodNetwork;
  /** The address that is the pod's while it lives. */
  address: string;
  /** Folder of everything of this pod. */
  folder: string;
  claimsFolder: string;
  /** The file pods have as `/etc/hosts`. */
  hostsFile: string;
  images: ImageTable;
  backOff: BackOffLimits;
  environment: BaseEnvironment;
  onProcess(pid: number, alive: boolean): void;
  log(line: string): void;
}

const strategicMergePatch = { 'content-type': 'application/strategic-merge-patch+json' };
const volumeRetryMs = 1_000;
const defaultGraceSeconds = 30;

/** Does for one pod what a kubelet does: sandbox, volumes, containers, status, and its end. */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #path: string;
  readonly #address: string;
  readonly #startTime = timestamp(new Date());
  readonly #stopping = new AbortController();
  readonly #runners = new Map<string, ContainerRunner>();
  readonly #volumes: PodVolumes;
  #pod: RunnablePod;
  #pause: ChildProcess | undefined;
  #sandboxReady = false;
  #conditions: PodCondition[];
  #work: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #written = '';

  constructor(pod: RunnablePod, options: PodWorkerOptions) {
    const { metadata, spec } = pod;
    this.#pod = pod;
    this.#options = options;
    this.#path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    this.#address = spec.hostNetwork ? options.network.hostAddress : options.address;
    this.#conditions = (pod.status as { conditions?: PodCondition[] } | undefined)?.conditions ?? [];
    this.#volumes = new PodVolumes({
      pod,
      place: { podAddress: this.#address, hostAddress: options.network.hostAddress },
      objects: this.#objects(),
      folder: join(options.folder, 'volumes'),
      claimsFolder: options.claimsFolder,
      requestToken: async (request) => {
        const answer = await options.admin.call<{ status: { token: string; expirationTimestamp: string } }>(
          'POST',
          `/api/v1/namespaces/${metadata.namespace}/serviceaccounts/${spec.serviceAccountName ?? 'default'}/token`,
          {
            body: {
              apiVersion: 'authentication.k8s.io/v1',
              kind: 'TokenRequest',
              spec: {
                ...(request.audience ? { audiences: [request.audience] } : {}),
                expirationSeconds: request.expirationSeconds ?? 3600,
                boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
              },
            },
          },
        );
        return { token: answer.status.token, expiresAt: new Date(answer.status.expirationTimestamp) };
      },
    });
    for (const container of spec.initContainers ?? []) this.#addRunner(container, initPolicy(container, pod));
    for (const container of spec.containers) this.#addRunner(container, podPolicy(pod));
  }

  /** Starts the pod. */
  start(): void {
    this.#work ??= this.#run().catch((error) => this.#options.log(`${this.#path}: ${String(error)}`));
  }

  /** Takes a newer version of the pod; one that is being deleted ends. */
  update(pod: RunnablePod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp) void this.end();
  }

  /** A Secret or ConfigMap of the namespace has changed, or it is time to look at tokens. */
  async syncVolumes(): Promise<void> {
    if (!this.#sandboxReady) return;
    // What has become wrong stays as it was, as long as the pod runs.
    await this.#volumes.sync().catch((error) => this.#options.log(`${this.#path}: ${String(error)}`));
  }

  /** Ends the containers within the pod's grace period and takes the pod off the API server. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end().catch((error) => this.#options.log(`${this.#path}: ${String(error)}`)));
  }

  async #end(): Promise<void> {
    const { metadata, spec } = this.#pod;
    const seconds = metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
    await this.kill(seconds * 1000);
    await this.#writeStatus();
    await this.#volumes.close();
    await rm(this.#options.folder, { recursive: true, force: true });
    const body = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
    const answer = await this.#options.admin.send('DELETE', this.#path, { body });
    // Somebody else was faster, or a pod of the same name is there already.
    if (answer.status >= 400 && ![404, 409].includes(answer.status))
      throw new RequestFailed('DELETE', this.#path, answer);
  }

  /** Ends the processes and leaves the object alone. */
  async kill(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const sidecars = new Set(this.#pod.spec.initContainers?.map(({ name }) => name));
    const stop = (names: readonly string[]) => Promise.all(names.map((name) => this.#runners.get(name)!.stop(graceMs)));
    const names = [...this.#runners.keys()];
    await stop(names.filter((name) => !sidecars.has(name)));
    await stop(names.filter((name) => sidecars.has(name)));
    await this.#work;
    this.#closeSandbox();
  }

  async #run(): Promise<void> {
    const { spec } = this.#pod;
    const { signal } = this.#stopping;
    await this.#openSandbox();
    while (!signal.aborted && !(await this.#volumesReady())) {
      await sleep(volumeRetryMs, undefined, { signal }).catch(() => {});
    }
    const sidecars: Promise<void>[] = [];
    for (const container of spec.initContainers ?? []) {
      if (signal.aborted) return;
      const runner = this.#runners.get(container.name)!;
      const run = runner.run();
      if (container.restartPolicy === 'Always') {
        sidecars.push(run);
        await this.#started(runner);
      } else {
        await run;
        if (!('terminated' in runner.record.state) || runner.record.state.terminated.exitCode !== 0) return;
      }
    }
    if (signal.aborted) return;
    await Promise.all(spec.containers.map(({ name }) => this.#runners.get(name)!.run()));
    if (signal.aborted) return;
    for (const { name, restartPolicy } of spec.initContainers ?? []) {
      if (restartPolicy === 'Always') await this.#runners.get(name)!.stop();
    }
    await Promise.all(sidecars);
    this.#closeSandbox();
    await this.#writeStatus();
  }

  async #volumesReady(): Promise<boolean> {
    try {
      await this.#volumes.sync();
      return true;
    } catch (error) {
      for (const runner of this.#runners.values()) {
        const message = error instanceof Error ? error.message : String(error);
        runner.record = { ...runner.record, state: { waiting: { reason: 'ContainerCreating', message } } };
      }
      this.#changed();
      return false;
    }
  }

  async #started(runner: ContainerRunner): Promise<void> {
    while (!this.#stopping.signal.aborted && !runner.record.started) await sleep(20);
  }

  /** A process that does nothing holds the network namespace, so that it outlives each container. */
  async #openSandbox(): Promise<void> {
    if (!this.#pod.spec.hostNetwork) {
      const pause = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
      this.#pause = pause;
      await new Promise<void>((resolve, reject) => pause.once('spawn', resolve).once('error', reject));
      this.#options.onProcess(pause.pid!, true);
      await hasOwnNetwork(pause.pid!);
      await connectPod(this.#options.network, pause.pid!, this.#address);
    }
    this.#sandboxReady = true;
    this.#changed();
  }

  #closeSandbox(): void {
    this.#sandboxReady = false;
    if (!this.#pause) return;
    this.#pause.kill('SIGKILL');
    this.#options.onProcess(this.#pause.pid!, false);
    this.#pause = undefined;
  }

  #addRunner(container: Container, restartPolicy: RestartPolicy): void {
    const { spec } = this.#pod;
    const runner = new ContainerRunner({
      container,
      restartPolicy,
      podAddress: this.#address,
      graceMs: (spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000,
      backOff: this.#options.backOff,
      prepare: (attempt) => this.#prepare(container, attempt),
      onChange: () => this.#changed(),
      onProcess: (pid, alive) => this.#options.onProcess(pid, alive),
    });
    runner.record = newRecord();
    if (!spec.initContainers?.length) runner.record.state = { waiting: { reason: 'ContainerCreating' } };
    this.#runners.set(container.name, runner);
  }

  async #prepare(container: Container, attempt: number): Promise<ContainerProcessOptions> {
    const { images, network, environment, folder, hostsFile } = this.#options;
    const image = images[container.image];
    if (!image) throw new UnknownImage(container.image);
    const place = { podAddress: this.#address, hostAddress: network.hostAddress };
    const base = { ...environment, ...image.env, HOSTNAME: this.#pod.metadata.name };
    const env = await containerEnvironment(container, this.#pod, place, this.#objects(), base);
    const words = (list: readonly string[] = []) => list.map((word) => expandVariables(word, env));
    // As with images: a command takes the place of the entry point.
    const command = [
      ...(container.command ? words(container.command) : (image.entrypoint ?? [])),
      ...words(container.args),
    ];
    if (command.length === 0) throw new Error(`no command specified for the image "${container.image}"`);
    const files = Object.entries(image.files ?? {}).map(([target, source]) => ({ source, target }));
    return {
      folder: join(folder, 'containers', `${container.name}-${attempt}`),
      ...(this.#pause ? { networkOf: this.#pause.pid! } : {}),
      command,
      workingDir: container.workingDir ?? '/',
      env,
      mounts: [{ source: hostsFile, target: '/etc/hosts' }, ...files, ...this.#volumes.mountsOf(container)],
      logFile: `${folder}_${container.name}_${attempt}.log`,
    };
  }

  #objects(): PodObjects {
    const read = async <T>(resource: string, name: string): Promise<T | undefined> => {
      const path = `/api/v1/namespaces/${this.#pod.metadata.namespace}/${resource}/${name}`;
      const answer = await this.#options.admin.send('GET', path);
      if (answer.status === 404) return undefined;
      if (answer.status >= 400) throw new RequestFailed('GET', path, answer);
      return answer.json<T>();
    };
    return { secret: (name) => read('secrets', name), configMap: (name) => read('configmaps', name) };
  }

  #changed(): void {
    void this.#writeStatus().catch((error) => this.#options.log(`${this.#path}: ${String(error)}`));
  }

  /** One write after the other, each with what is true when its turn comes. */
  #writeStatus(): Promise<void> {
    const write = this.#writing.catch(() => {}).then(() => this.#writeStatusNow());
    this.#writing = write;
    return write;
  }

  async #writeStatusNow(): Promise<void> {
    const status = podStatus({
      pod: this.#pod,
      hostAddress: this.#options.network.hostAddress,
      podAddress: this.#address,
      startTime: this.#startTime,
      now: timestamp(new Date()),
      sandboxReady: this.#sandboxReady,
      records: new Map([...this.#runners].map(([name, { record }]) => [name, record])),
      before: this.#conditions,
    });
    const text = JSON.stringify(status);
    if (text === this.#written) return;
    const body = { metadata: { uid: this.#pod.metadata.uid }, status };
    const answer = await this.#options.admin.send('PATCH', `${this.#path}/status`, {
      headers: strategicMergePatch,
      body,
    });
    if ([404, 409].includes(answer.status)) return;
    if (answer.status >= 400) throw new RequestFailed('PATCH', `${this.#path}/status`, answer);
    this.#written = text;
    this.#conditions = status.conditions;
  }
}

function podPolicy({ spec }: RunnablePod): RestartPolicy {
  return (spec.restartPolicy ?? 'Always') as RestartPolicy;
}

function initPolicy(container: Container, pod: RunnablePod): RestartPolicy {
  if (container.restartPolicy === 'Always') return 'Always';
  return podPolicy(pod) === 'Never' ? 'Never' : 'OnFailure';
}

/** Until `unshare` has done its work, the process is still in our network. */
async function hasOwnNetwork(pid: number): Promise<void> {
  const ours = await readlink('/proc/self/ns/net');
  while ((await readlink(`/proc/${pid}/ns/net`)) === ours) await sleep(5);
}
