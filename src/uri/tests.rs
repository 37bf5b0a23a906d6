use super::*;

#[test]
fn elf_and_hfip_give_the_published_vectors() {
    assert_eq!((elf(b""), hfip(b"")), (0, 0));
    assert_eq!((elf(b"a"), hfip(b"a")), (97, 97));
    assert_eq!((elf(b"abcd"), hfip(b"abcd")), (424_084, 1_684_234_849));
    assert_eq!((elf(b"abcde"), hfip(b"abcde")), (6_785_445, 1_684_234_756));
}
