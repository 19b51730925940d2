// Names of skills that agents have of each other. No tenant's skill can have one of them.
export const handOff = 'hand_off';
export const askAgent = 'ask_agent';

export const reservedNames: ReadonlySet<string> = new Set([handOff, askAgent]);
