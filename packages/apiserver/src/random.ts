/** Where uids and generated names come from. A test passes a seeded one. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

/** The randomness of the machine. Uids are names and no secrets, so they need no cryptography, which takes a while to load. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => uuidFrom(Math.random),
};

/** A version 4 UUID made of numbers in [0, 1). */
function uuidFrom(next: () => number): string {
  const word = () => Math.floor(next() * 0x1_0000_0000);
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, '0');
  const first = hex(word());
  const second = hex((word() & 0xffff_0fff) | 0x4000);
  const third = hex((word() & 0x3fff_ffff) | 0x8000_0000);
  const fourth = hex(word());
  return `${first}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${fourth}`;
}
