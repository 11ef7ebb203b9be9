import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { StrategyContext } from '../resource.ts';
import { ipAddress } from './field-checks.ts';
import { forbiddenField, invalidValue } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText, ensureObject } from './json-access.ts';

/** Cluster addresses are 10.96.0.1 to 10.96.255.254; the first belongs to `default/kubernetes`. */
const addressCount = 65_534;
const firstNodePort = 30_000;
const lastNodePort = 32_767;

export function specOf(object: ApiObject): JsonObject {
  return ensureObject(object as unknown as JsonObject, 'spec');
}

export function hasNodePorts(spec: JsonObject): boolean {
  return (
    spec['type'] === 'NodePort' || (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)
  );
}

export function isExternal(spec: JsonObject): boolean {
  return spec['type'] === 'ExternalName';
}

function addressText(index: number): string {
  return `10.96.${index >> 8}.${index & 255}`;
}

function usedAddresses(context: StrategyContext): Set<string> {
  const used = new Set<string>([addressText(1)]);
  for (const service of context.scan('services')) {
    for (const address of asList(asObject(service['spec'])?.['clusterIPs'])) used.add(asText(address));
  }
  return used;
}

export function allocateAddress(spec: JsonObject, context: StrategyContext): void {
  if (isExternal(spec)) return;
  if (asList(spec['clusterIPs']).length === 0) {
    const used = usedAddresses(context);
    let index = 1 + Math.floor(context.random.next() * addressCount);
    while (used.has(addressText(index))) index = (index % addressCount) + 1;
    spec['clusterIPs'] = [addressText(index)];
  }
  spec['clusterIP'] = asList(spec['clusterIPs'])[0]!;
}

export function allocateNodePorts(object: ApiObject, context: StrategyContext): void {
  const spec = specOf(object);
  if (!hasNodePorts(spec)) return;
  const wanted = asObjects(spec['ports']).filter((port) => !port['nodePort']);
  if (wanted.length === 0) return;
  const used = new Set<number>();
  for (const service of [...context.scan('services'), object]) {
    for (const port of asObjects(asObject(service['spec'])?.['ports'])) used.add(asNumber(port['nodePort']) ?? 0);
  }
  // One number in two protocols, as DNS has it, is one number on the nodes, too.
  const shared = new Map(
    asObjects(spec['ports'])
      .filter((port) => port['nodePort'])
      .map((port) => [port['port'], port['nodePort']]),
  );
  for (const port of wanted) {
    const known = shared.get(port['port']);
    if (known !== undefined) {
      port['nodePort'] = known;
      continue;
    }
    const range = lastNodePort - firstNodePort + 1;
    let candidate = Math.floor(context.random.next() * range);
    while (used.has(firstNodePort + candidate)) candidate = (candidate + 1) % range;
    port['nodePort'] = firstNodePort + candidate;
    shared.set(port['port'], port['nodePort']);
    used.add(firstNodePort + candidate);
  }
}

/** Why the addresses or node ports of a Service cannot be had: the first reason, as the real server stops there. */
export function allocationErrors(
  object: ApiObject,
  previous: ApiObject | undefined,
  context: StrategyContext,
): FieldError[] {
  const spec = specOf(object);
  const wrong = addressErrors(spec);
  if (wrong.length > 0) return wrong;
  const address = asText(asList(spec['clusterIPs'])[0]);
  const isKept = address === asText(asList(asObject(previous?.['spec'])?.['clusterIPs'])[0]);
  const why = isKept ? undefined : whyNoAddress(address, object, context);
  if (why) return [invalidValue('spec.clusterIPs', spec['clusterIPs'], `failed to allocate IP ${address}: ${why}`)];
  // Node ports are not looked at when a Service is only tried.
  return context.dryRun ? [] : nodePortErrors(object, context).slice(0, 1);
}

function addressErrors(spec: JsonObject): FieldError[] {
  const addresses = asList(spec['clusterIPs']);
  if (isExternal(spec)) {
    return addresses.length === 0
      ? []
      : [forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services')];
  }
  return addresses.flatMap((address, index) =>
    index === 0 && address === 'None' ? [] : ipAddress(address, `spec.clusterIPs[${index}]`),
  );
}

function whyNoAddress(address: string, object: ApiObject, context: StrategyContext): string | undefined {
  if (!address || address === 'None') return undefined;
  if (!address.startsWith('10.96.')) return 'the provided network does not match the current range';
  // Whether somebody has it is not looked at when a Service is only tried.
  if (context.dryRun) return undefined;
  for (const service of context.scan('services')) {
    if (service.metadata.uid === object.metadata.uid) continue;
    if (asList(asObject(service['spec'])?.['clusterIPs']).includes(address)) return 'provided IP is already allocated';
  }
  return undefined;
}

function nodePortErrors(object: ApiObject, context: StrategyContext): FieldError[] {
  const { namespace, name } = object.metadata;
  const others = [...context.scan('services')].filter(
    ({ metadata }) => metadata.namespace !== namespace || metadata.name !== name,
  );
  return asObjects(specOf(object)['ports']).flatMap((port, index) => {
    const number = asNumber(port['nodePort']);
    if (!number) return [];
    const at = `spec.ports[${index}].nodePort`;
    if (number < firstNodePort || number > lastNodePort) {
      const range = `The range of valid ports is ${firstNodePort}-${lastNodePort}`;
      return [invalidValue(at, number, `provided port is not in the valid range. ${range}`)];
    }
    const isTaken = others.some((service) =>
      asObjects(asObject(service['spec'])?.['ports']).some(
        (other) => other['nodePort'] === number && other['protocol'] === port['protocol'],
      ),
    );
    return isTaken ? [invalidValue(at, number, 'provided port is already allocated')] : [];
  });
}
