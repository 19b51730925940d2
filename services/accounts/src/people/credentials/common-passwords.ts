// Words that common guesses consist of. Passwords are looked up without case, without digits and signs at their ends,
// and with the usual substitutes undone (`p4ssw0rd!99` becomes `password`), so each word covers hundreds of passwords.
// Compiled for this repository from the top of the published lists of common passwords.
const words = `
abcdefg access account admin administrator adminadmin alexander america amanda andrea andrew angel angels anthony apple
april arsenal asdf asdfasdf asdfgh asdfghjkl ashley august austin autumn azerty baby babygirl backup badboy baseball basketball
batman beautiful bigdog biteme blink boomer bond boston brandon brasil buster butterfly changeme changeit charlie cheese
chelsea chicken chocolate christian chris cocacola company computer cookie corvette cowboy daniel database dallas december
default demo diamond dolphin donald dragon eagle elizabeth einstein england everton facebook family falcon february ferrari
fidelity firewall fitness flower football forever freedom friday friends fuckyou fuckoff gabriel gandalf garden ginger
goodluck google guest guitar hallo hammer hannah happy harley heather hello helloworld hockey honey hotmail house hunter
iceman iloveyou iloveu internet isabella jackson jasmine jennifer jessica jesus johnny jonathan jordan jordan joshua july june
junior justin killer king kitten knight lakers letmein letmeinnow liverpool linkedin login london lovely loveme love lover
lucky maggie manager manchester march marina marine martin master matrix matthew maverick maxwell mercedes merlin michael
michelle mickey midnight million minecraft money monday monica monkey monster morgan mother motdepasse mustang mypassword
naruto naruto newyork nicole ninja nintendo november nothing october oliver operator orange passphrase passport passw pass
passwd password passwort pepper phoenix picture player please pokemon porsche porsche power princess private public purple
qazwsx qazwsxedc queen qwer qwert qwerty qwertyui qwertyuiop qwertz rachel raiders rainbow ranger realmadrid rebecca redsox
robert root samantha samsung sample sarah saturday scooter secret secure security senha september server service shadow
sierra silver simple skywalker slipknot snoopy soccer sophie spiderman spring stak star startrek starwars steelers success
summer sunday sunshine super superman supersecret superuser support sweet system sysadmin taylor temp temppass temporary
tennis test tester testing testtest thomas thunder thursday tiger tigger tinkerbell toor trustno trustnoone tuesday unknown
user username victoria vanessa vegas wachtwoord warrior wednesday welcome welcometo whatever william windows winner winter
wizard wordpass yankees yellow yourpassword zaqwsx zxcv zxcvbn zxcvbnm
`;

export const commonWords: ReadonlySet<string> = new Set(words.split(/\s+/).filter(word => word !== ''));
