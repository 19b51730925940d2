import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { fonts, radii, shades } from '@stak/kit/identity';

const accent = shades.accent as unknown as MantineColorsTuple;

// The components in Stak's own colours, type and shapes. identity.css has the variables.
export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 9,
  colors: {
    teal: accent,
    gray: shades.grey as unknown as MantineColorsTuple,
    dark: shades.darkGrey as unknown as MantineColorsTuple,
  },
  fontFamily: fonts.text,
  fontFamilyMonospace: fonts.code,
  headings: {
    fontWeight: '650',
    sizes: {
      h2: { fontSize: '1.625rem', lineHeight: '1.25' },
      h3: { fontSize: '1.25rem', lineHeight: '1.3' },
      h4: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h5: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  radius: { xs: '3px', sm: radii.small, md: radii.medium, lg: radii.large },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // No upper case, which is harder to read.
    Badge: { defaultProps: { tt: 'none', radius: 'sm' } },
    // The button that matters most on a page is ink; the accent is for links and for what is chosen.
    Button: {
      vars: (_: unknown, { variant = 'filled', color }: { variant?: string; color?: string }) =>
        variant === 'filled' && color === undefined
          ? {
              root: {
                '--button-bg': 'var(--color-ink)',
                '--button-hover': 'color-mix(in srgb, var(--color-ink), var(--color-on-ink) 18%)',
                '--button-color': 'var(--color-on-ink)',
              },
            }
          : {},
    },
    Modal: { styles: { title: { fontWeight: 600 } } },
    Drawer: { styles: { title: { fontWeight: 600 } } },
    // Screen readers need a name for the cross.
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // The first item gets the focus. A separate focus target would have a role that a menu may not contain.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // A page may have one banner only, and the title of a dialog is not it.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
});

/** The variables of the components that have a counterpart of our own. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const own = {
    '--mantine-color-body': 'var(--color-surface)',
    '--mantine-color-text': 'var(--color-text)',
    '--mantine-color-dimmed': 'var(--color-soft-text)',
    '--mantine-color-anchor': 'var(--color-accent)',
    '--mantine-color-error': 'var(--color-danger)',
    '--mantine-color-default-border': 'var(--color-line)',
    '--mantine-color-default-hover': 'var(--color-raised)',
    '--mantine-primary-color-light': 'var(--color-accent-soft)',
    '--mantine-primary-color-light-color': 'var(--color-accent)',
  };
  return { variables: {}, light: own, dark: own };
};
