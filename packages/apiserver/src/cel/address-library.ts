import { isIPv4, isIPv6 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

/** An IP address as a number of 32 or 128 bits. */
class Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
  constructor(bits: 32 | 128, value: bigint) {
    this.bits = bits;
    this.value = value;
  }
}

class Network {
  readonly address: Address;
  readonly prefix: number;
  constructor(address: Address, prefix: number) {
    this.address = address;
    this.prefix = prefix;
  }
  get mask(): bigint {
    const all = (1n << BigInt(this.address.bits)) - 1n;
    return all ^ ((1n << BigInt(this.address.bits - this.prefix)) - 1n);
  }
  contains(address: Address): boolean {
    return address.bits === this.address.bits && (address.value & this.mask) === (this.address.value & this.mask);
  }
}

class AddressNamespace {}

function parseAddress(text: string): Address {
  // Leading zeros and IPv4 inside IPv6 are refused as Kubernetes refuses them.
  if (isIPv4(text) && !/(?:^|\.)0\d/.test(text)) {
    return new Address(
      32,
      text.split('.').reduce((total, part) => (total << 8n) | BigInt(part), 0n),
    );
  }
  if (isIPv6(text) && !text.includes('.') && !text.includes('%')) {
    const [head = '', tail] = text.split('::');
    const before = head ? head.split(':') : [];
    const after = tail ? tail.split(':') : [];
    const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0');
    const value = [...before, ...zeros, ...after].reduce((total, part) => (total << 16n) | BigInt(`0x${part}`), 0n);
    return new Address(128, value);
  }
  throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
}

function parseNetwork(text: string): Network {
  const [address, prefix, ...more] = text.split('/');
  const parsed = address === undefined ? undefined : parseAddress(address);
  if (!parsed || more.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(prefix ?? '') || Number(prefix) > parsed.bits) {
    throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  }
  return new Network(parsed, Number(prefix));
}

function printAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16));
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}

function succeeds(parse: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
}

/** Kubernetes' functions for IP addresses and networks. */
export function registerAddresses(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  environment.registerType('IP', { ctor: Address, fields: {} });
  environment.registerType('CIDR', { ctor: Network, fields: {} });
  environment.registerType('AddressNamespace', { ctor: AddressNamespace, fields: {} });
  environment.registerConstant('ip', 'AddressNamespace', new AddressNamespace());
  define(
    'AddressNamespace.isCanonical(string): bool',
    (_: unknown, text: string) => printAddress(parseAddress(text)) === text,
  );
  define('ip(string): IP', parseAddress);
  define('isIP(string): bool', succeeds(parseAddress));
  define('string(IP): string', printAddress);
  define('IP.family(): int', (address: Address) => (address.bits === 32 ? 4n : 6n));
  define('IP.isUnspecified(): bool', (address: Address) => address.value === 0n);
  define('IP.isLoopback(): bool', (address: Address) =>
    address.bits === 32 ? address.value >> 24n === 127n : address.value === 1n,
  );
  define('IP.isLinkLocalUnicast(): bool', isLinkLocalUnicast);
  define('IP.isLinkLocalMulticast(): bool', (address: Address) =>
    address.bits === 32 ? address.value >> 8n === 0xe00000n : address.value >> 112n === 0xff02n,
  );
  define('IP.isGlobalUnicast(): bool', (address: Address) => {
    const multicast = address.bits === 32 ? address.value >> 28n === 0xen : address.value >> 120n === 0xffn;
    const loopback = address.bits === 32 ? address.value >> 24n === 127n : address.value === 1n;
    const broadcast = address.bits === 32 && address.value === 0xffffffffn;
    return address.value !== 0n && !multicast && !loopback && !broadcast && !isLinkLocalUnicast(address);
  });
  environment.registerOperator(
    'IP == IP',
    (left: Address, right: Address) => left.bits === right.bits && left.value === right.value,
  );
  define('cidr(string): CIDR', parseNetwork);
  define('isCIDR(string): bool', succeeds(parseNetwork));
  define('string(CIDR): string', (network: Network) => `${printAddress(network.address)}/${network.prefix}`);
  define('CIDR.containsIP(IP): bool', (network: Network, address: Address) => network.contains(address));
  define('CIDR.containsIP(string): bool', (network: Network, text: string) => network.contains(parseAddress(text)));
  const containsNetwork = (network: Network, other: Network): boolean =>
    network.prefix <= other.prefix && network.contains(other.address);
  define('CIDR.containsCIDR(CIDR): bool', containsNetwork);
  define('CIDR.containsCIDR(string): bool', (network: Network, text: string) =>
    containsNetwork(network, parseNetwork(text)),
  );
  define('CIDR.ip(): IP', (network: Network) => network.address);
  define(
    'CIDR.masked(): CIDR',
    (network: Network) =>
      new Network(new Address(network.address.bits, network.address.value & network.mask), network.prefix),
  );
  define('CIDR.prefixLength(): int', (network: Network) => BigInt(network.prefix));
}

function isLinkLocalUnicast(address: Address): boolean {
  return address.bits === 32 ? address.value >> 16n === 0xa9fen : address.value >> 118n === 0x3fan;
}
