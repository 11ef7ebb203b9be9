import type { Address } from './forward-port.ts';

export interface ServiceObject {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    type?: string;
    clusterIP?: string;
    publishNotReadyAddresses?: boolean;
    ports?: { name?: string; port: number; nodePort?: number; protocol?: string }[];
  };
  status?: { loadBalancer?: { ingress?: { ip?: string }[] } };
}

export interface EndpointSliceObject {
  metadata: { name: string; namespace: string; uid: string; labels?: Record<string, string> };
  endpoints?: { addresses: string[]; hostname?: string; conditions?: { ready?: boolean } }[] | null;
  ports?: { name?: string; port?: number }[] | null;
}

/** Where pods find Services: their names, and who stands behind them. */
export class ServiceDirectory {
  readonly #services = new Map<string, ServiceObject>();
  readonly #slices = new Map<string, EndpointSliceObject>();

  putService(service: ServiceObject): void {
    this.#services.set(service.metadata.uid, service);
  }

  dropService(service: ServiceObject): void {
    this.#services.delete(service.metadata.uid);
  }

  putSlice(slice: EndpointSliceObject): void {
    this.#slices.set(slice.metadata.uid, slice);
  }

  dropSlice(slice: EndpointSliceObject): void {
    this.#slices.delete(slice.metadata.uid);
  }

  /** Lines of `/etc/hosts`: cluster addresses, and for headless Services the addresses of their pods, each with its host name. */
  hosts(): string {
    const lines = ['127.0.0.1 localhost'];
    for (const { metadata, spec } of this.#sorted()) {
      if (spec.clusterIP && spec.clusterIP !== 'None') lines.push(`${spec.clusterIP} ${namesOf('', metadata)}`);
      if (spec.clusterIP !== 'None') continue;
      for (const { addresses, hostname } of this.#endpoints(metadata)) {
        const names = [...(hostname ? [namesOf(`${hostname}.`, metadata)] : []), namesOf('', metadata)];
        for (const address of addresses) lines.push(`${address} ${names.join(' ')}`);
      }
    }
    return `${lines.join('\n')}\n`;
  }

  /** Who answers for a port of a Service now, chosen by `turn` among those who are ready. */
  endpoint({ metadata }: ServiceObject, portName: string | undefined, turn: number): Address | undefined {
    const found: Address[] = [];
    for (const slice of this.#slicesOf(metadata)) {
      const port = slice.ports?.find(({ name }) => (name ?? '') === (portName ?? ''))?.port;
      for (const { addresses, conditions } of slice.endpoints ?? []) {
        if (port !== undefined && conditions?.ready !== false) found.push({ host: addresses[0]!, port });
      }
    }
    return found[turn % found.length];
  }

  #sorted(): ServiceObject[] {
    const nameOf = ({ metadata }: ServiceObject) => `${metadata.namespace}/${metadata.name}`;
    return [...this.#services.values()].toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  }

  #slicesOf({ namespace, name }: ServiceObject['metadata']): EndpointSliceObject[] {
    return [...this.#slices.values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    );
  }

  /** The controller manager says of pods that are to be published before they are ready that they are. */
  #endpoints(service: ServiceObject['metadata']) {
    return this.#slicesOf(service).flatMap(({ endpoints }) =>
      (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false),
    );
  }
}

function namesOf(prefix: string, { name, namespace }: ServiceObject['metadata']): string {
  const short = `${prefix}${name}.${namespace}`;
  return [short, `${short}.svc`, `${short}.svc.cluster.local`].join(' ');
}
